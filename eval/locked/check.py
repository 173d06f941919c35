"""Check the locked question set against the publications it was written from.

Usage:
    python eval/locked/check.py [--gazette FOLDER] [--corpus FOLDER] [--questions FILE] [--against FILE]...
                                [--markdown]

Without options: what stands beside this script, and the sample gazette of this repository, to which the locked corpus
is added. `--against` names other question sets (JSON Lines) that must not share six words in a row with this one.
`--markdown` prints the composition table of the README alone. Only the standard library is used; nothing is answered.

What is checked:
  - corpus: every path follows the convention, its parts agree with one another, no code stands twice or in
    the sample, and there are enough of them;
  - items: the fields are there, ids are unique and fit the category, state and reason belong together, `hops` is the
    number of gold groups, citizens' and formal wording and subsets are known words;
  - gold: the code leads to a file, title and date are that file's, every quote stands in it verbatim (.html by its
    visible text, table rows with bars), nothing restricted and nothing newer than `as_of` is gold;
  - patterns: they compile, are ASCII, match neither the empty text nor the question; every nugget is met by a quote
    or by the reference answer, every vital one by the reference answer; nothing forbidden hits the reference answer;
  - twins: thirty pairs, an answered and an unanswerable item each, and the pattern that would show the missing answer
    (`absent`) hits no public file that the cut-off allows (`^…` is looked for in the paths);
  - wording: no two questions share more than half of their six-word runs, none shares one with another set.

Faults are printed one a line and the exit code is 1; then comes the composition.
"""

from __future__ import annotations

import argparse
import collections
import html
import io
import json
import pathlib
import re
import sys
import unicodedata
from typing import Any

Item = dict[str, Any]

CATEGORIES = {
    "single_passage": "SP",
    "list_enumeration": "LE",
    "temporal_transitorio": "TT",
    "cross_reference": "CR",
    "multi_document": "MD",
    "monitoring": "MO",
    "negative_false_premise": "NF",
    "unanswerable": "UN",
    "ambiguous": "AM",
    "contested": "CO",
    "restricted": "RE",
    "adversarial": "AD",
}
MINIMUM = {"unanswerable": 30, "ambiguous": 8, "contested": 10, "restricted": 6, "adversarial": 10}
V4 = list(CATEGORIES)[:7]
V4_MINIMUM, ITEMS_MINIMUM, PUBLICATIONS_MINIMUM, TWINS = 66, 132, 64, 30
REASONS: dict[str, set[str | None]] = {
    "answered": {"closed", "closed_contested", "premise_corrected", None},
    "abstained": {"not_in_corpus"},
    "needs_clarification": {"ambiguous"},
    "escalated": {"scope_denied"},
}
PHRASINGS = {"formal", "ciudadana"}
SUBSETS = {"single_hop", "multi_hop", "unanswerable", "ambiguous", "contested", "restricted", "adversarial"}
FIRST_TOOLS = {"list_publications", "search_documents"}
FIELDS = (
    *("id", "category", "question", "as_of", "persona", "expected_state", "expected_reason", "sub_questions", "gold"),
    *("forbidden", "reference_answer", "notes", "expected_tools", "hops", "phrasing", "subset"),
)
PATH = re.compile(
    r"(?:@(?P<scope>[a-z]+)/)?(?P<y>\d{4})/(?P<m>\d\d)/(?P<d>\d\d)(?P=m)(?P=y)/(?P<e>MAT|VES|EXT)/"
    r"\d{3}_(?:DOF|AVISO)_(?P=y)(?P=m)(?P=d)_(?P=e)_(?P<code>92\d{5})\.(?:md|html|txt)"
)
RUN = 6


def fold(text: str, tilde: str = "n") -> str:
    """Lower-case text without accents or emphasis, white space joined; `tilde` is what becomes of an enye."""
    marks = unicodedata.normalize("NFKD", text.lower().replace("\N{LATIN SMALL LETTER N WITH TILDE}", "\0"))
    kept = "".join(char for char in marks if not unicodedata.combining(char)).replace("*", "")
    return " ".join(kept.split()).replace("\0", tilde)


def read(path: pathlib.Path) -> str:
    """The text of a file; of HTML the visible text, with the rows of its tables between bars."""
    text = path.read_bytes().decode("utf-8", "replace")
    if path.suffix != ".html":
        return text
    text = re.sub(r"(?is)<(script|style)\b.*?</\1>", " ", text)
    text = re.sub(r"(?i)<tr>\s*<td", "\n| <td", text)
    text = re.sub(r"(?i)</td>", " | ", text)
    return re.sub(r"[ \t]+", " ", html.unescape(re.sub(r"<[^>]+>", " ", text)))


class Corpus:
    """The files of the gazette and of the corpus added to it, by publication code."""

    def __init__(self, gazette: pathlib.Path, added: pathlib.Path) -> None:
        self.rel: dict[str, str] = {}
        self.paths: dict[str, pathlib.Path] = {}
        self.texts: dict[str, str] = {}
        self.added: list[str] = []
        self.faults: list[str] = []
        for root in (gazette, added):
            for path in sorted(p for p in root.rglob("*") if p.is_file()):
                rel = path.relative_to(root).as_posix()
                if root == added:
                    self.add(rel, path)
                    continue
                code = re.search(r"_(\d{7})\.(?:md|html|txt|json)$", rel)
                whole = re.search(r"/(\d\d)(\d\d)(\d{4})-(MAT|VES|EXT)\.md$", rel)
                if code:
                    self.take(code[1], rel, path)
                elif whole:
                    self.take(f"{whole[4]}-{whole[3]}{whole[2]}{whole[1]}", rel, path)
                elif rel.startswith("leyes/LGCM"):
                    self.take("LEY-LGCM", rel, path)

    def add(self, rel: str, path: pathlib.Path) -> None:
        """One file of the added corpus."""
        match = PATH.fullmatch(rel)
        if match is None:
            self.faults.append(f"corpus: {rel} is out of the convention")
        elif match["code"] in self.rel:
            self.faults.append(f"corpus: {match['code']} stands twice")
        else:
            self.take(match["code"], rel, path)
            self.added.append(match["code"])

    def take(self, code: str, rel: str, path: pathlib.Path) -> None:
        """Remember a file."""
        self.rel[code] = rel
        self.paths[code] = path

    def code(self, source: str) -> str | None:
        """The file's code for a publication's code (those cut out of an edition have a number more)."""
        if source in self.rel:
            return source
        return next((c for c in self.rel if source.startswith(c + "-")), None)

    def text(self, code: str) -> str:
        """The text of a file, read once."""
        if code not in self.texts:
            self.texts[code] = read(self.paths[code])
        return self.texts[code]

    def day(self, code: str) -> str | None:
        """The day of publication, from the path."""
        day = re.search(r"(\d{4})/(\d\d)/(\d\d)\d{6}/", self.rel[code])
        return "-".join(day.groups()) if day else None


def hits(patterns: list[str], text: str) -> list[str]:
    """The patterns that hit the folded text, whether or not folding takes an enye for an n."""
    kept, taken = fold(text, "\N{LATIN SMALL LETTER N WITH TILDE}"), fold(text)
    return [p for p in patterns if all(re.search(p, folded, re.IGNORECASE) for folded in (kept, taken))]


def groups_of(item: Item) -> set[str]:
    """The names of an item's gold groups; an entry without one stands alone."""
    return {entry.get("group") or f"#{number}" for number, entry in enumerate(item["gold"])}


def check_shape(item: Item) -> list[str]:
    """Faults in the fields of one item."""
    faults = [f"field {field} is missing" for field in FIELDS if field not in item]
    if faults:
        return faults
    faults += [f"unknown field {field}" for field in item if field not in (*FIELDS, "trajectory")]
    if not re.fullmatch(rf"LK-{CATEGORIES.get(item['category'], '?')}-\d{{3}}", item["id"]):
        faults.append("the id does not fit the category")
    if item["expected_reason"] not in REASONS.get(item["expected_state"], ()):
        faults.append(f"{item['expected_state']} does not go with {item['expected_reason']}")
    if item["phrasing"] not in PHRASINGS or item["subset"] not in SUBSETS:
        faults.append("unknown phrasing or subset")
    if (item["category"] == "restricted") != (item["expected_tools"] is None):
        faults.append("a restricted item, and only such, has no tool to begin with")
    elif not set(item["expected_tools"] or FIRST_TOOLS) <= FIRST_TOOLS:
        faults.append("expected_tools holds a tool that cannot come first")
    if item["hops"] != len(groups_of(item)):
        faults.append(f"hops is {item['hops']}, gold has {len(groups_of(item))} groups")
    return faults


def check_gold(item: Item, corpus: Corpus) -> list[str]:
    """Faults in the gold of one item."""
    faults = []
    if (item["expected_state"] == "answered") != bool(item["gold"]):
        faults.append("gold goes with answered items, and only with them")
    for entry in item["gold"]:
        code = corpus.code(entry["source"])
        if code is None:
            faults.append(f"no file for {entry['source']}")
            continue
        text, day = corpus.text(code), corpus.day(code)
        if corpus.rel[code].startswith("@"):
            faults.append(f"{code} is restricted")
        if entry["title"] and fold(entry["title"]) not in fold(text):
            faults.append(f"title not in {code}")
        if entry["publication_date"] != day:
            faults.append(f"date {entry['publication_date']} is not that of {code}")
        if item["as_of"] and (day or "") > item["as_of"]:
            faults.append(f"{code} is newer than as_of")
        faults += [f"not in {code}: {quote[:60]}" for quote in entry["quotes"] if quote not in text]
    return faults


def check_patterns(item: Item) -> list[str]:
    """Faults in the nuggets and in what is forbidden."""
    faults = []
    quotes = [quote for entry in item["gold"] for quote in entry["quotes"]]
    reference = item["reference_answer"]
    nuggets = [nugget for sub in item["sub_questions"] for nugget in sub["nuggets"]]
    for pattern in [p for nugget in nuggets for p in nugget["accept"]] + item["forbidden"]:
        try:
            re.compile(pattern)
        except re.error as error:
            return [f"pattern {pattern}: {error}"]
        if not pattern.isascii() or re.search(pattern, ""):
            faults.append(f"pattern with accents, or that matches anything: {pattern}")
    if (item["expected_state"] == "answered") != any(nugget["vital"] for nugget in nuggets):
        faults.append("vital nuggets go with answered items, and only with them")
    for nugget in nuggets:
        accept = nugget["accept"]
        if not any(hits(accept, text) for text in [*quotes, reference]):
            faults.append(f"nothing hits: {nugget['text']}")
        if nugget["vital"] and not hits(accept, reference):
            faults.append(f"the reference answer lacks: {nugget['text']}")
        faults += [f"hits the question: {pattern}" for pattern in hits(accept, item["question"])]
    faults += [f"forbidden, but in the question: {p}" for p in hits(item["forbidden"], item["question"])]
    if item["expected_state"] == "answered":
        faults += [f"forbidden, but in the reference answer: {p}" for p in hits(item["forbidden"], reference)]
    return faults


def check_twins(items: list[Item], twins: list[dict[str, str]], corpus: Corpus) -> list[str]:
    """Faults in the pairs, and answers that are there after all."""
    faults = []
    by_id = {item["id"]: item for item in items}
    used = [name for pair in twins for name in (pair["answerable"], pair["unanswerable"])]
    if len(twins) != TWINS or len(set(used)) != 2 * TWINS or not set(used) <= set(by_id):
        return [f"twins: {len(twins)} pairs of {len(set(used))} items"]
    public = [code for code in corpus.rel if not corpus.rel[code].startswith("@")]
    for pair in twins:
        item, other = by_id[pair["unanswerable"]], by_id[pair["answerable"]]
        if item["category"] != "unanswerable" or other["expected_state"] != "answered":
            faults.append(f"twins: {item['id']} and {other['id']} are not what they should be")
        for code in public:
            if item["as_of"] and (corpus.day(code) or "") > item["as_of"]:
                continue
            in_path = pair["absent"].startswith("^")
            if hits([pair["absent"]], corpus.rel[code].lower().split("/", 2)[-1] if in_path else corpus.text(code)):
                faults.append(f"{item['id']}: {code} may answer it")
    return faults


def runs_of(question: str) -> set[tuple[str, ...]]:
    """Every run of six words of a question."""
    words = re.findall(r"\w+", fold(question))
    return {tuple(words[start : start + RUN]) for start in range(len(words) - RUN + 1)}


def check_wording(items: list[Item], others: list[tuple[str, str]]) -> list[str]:
    """Questions that say the same, or that say what another set says."""
    faults = []
    known = {run: name for name, question in others for run in runs_of(question)}
    own: dict[tuple[str, ...], str] = {}
    for item in items:
        runs = runs_of(item["question"])
        faults += [f'{item["id"]}: shares "{" ".join(run)}" with {known[run]}' for run in sorted(runs & set(known))]
        shared = collections.Counter(own[run] for run in runs if run in own)
        faults += [f"{item['id']}: near duplicate of {name}" for name, n in shared.items() if 2 * n > len(runs)]
        own |= {run: str(item["id"]) for run in runs if run not in own}
    return faults


def composition(items: list[Item], twins: list[dict[str, str]], corpus: Corpus) -> list[str]:
    """The table of the README, and what does not fit in it."""
    twin = {name for pair in twins for name in (pair["answerable"], pair["unanswerable"])}
    rows = ["| Category | Items | Of a pair | Two hops or more | Citizen's wording | Expected end |"]
    rows.append("|" + "---|" * 6)
    for name in (*CATEGORIES, "all"):
        mine = [item for item in items if name in (item["category"], "all")]
        ends = collections.Counter(str(item["expected_reason"] or "answered, any reason") for item in mine)
        rows.append(
            f"| {name} | {len(mine)} | {sum(i['id'] in twin for i in mine)} | {sum(i['hops'] > 1 for i in mine)} | "
            f"{sum(i['phrasing'] == 'ciudadana' for i in mine)} | "
            f"{', '.join(f'{end} {n}' for end, n in ends.most_common())} |"
        )
    nuggets = [nugget for item in items for sub in item["sub_questions"] for nugget in sub["nuggets"]]
    gold = [entry for item in items for entry in item["gold"]]
    sources = {corpus.code(entry["source"]) for entry in gold}
    words = sorted(len(corpus.text(code).split()) for code in corpus.added)
    kinds = collections.Counter(corpus.paths[code].suffix for code in corpus.added)
    days = sorted(str(corpus.day(code)) for code in corpus.added)
    subsets = collections.Counter(item["subset"] for item in items)
    restricted = sum(corpus.rel[code].startswith("@") for code in corpus.added)
    rows += [
        "",
        "Subsets: " + ", ".join(f"{name} {number}" for name, number in sorted(subsets.items())),
        f"Nuggets: {len(nuggets)}, vital {sum(nugget['vital'] for nugget in nuggets)}; gold entries: {len(gold)}, of "
        f"{len(sources)} publications, {len(sources & set(corpus.added))} of them added; forbidden patterns: "
        f"{sum(len(item['forbidden']) for item in items)}; questions with their own cut-off: "
        f"{sum(item['as_of'] is not None for item in items)}",
        f"Corpus: {len(corpus.added)} publications ({', '.join(f'{n} {k}' for k, n in sorted(kinds.items()))}; "
        f"{restricted} restricted), {days[0]} to {days[-1]}, {sum(words):,} words, {words[0]} to {words[-1]} each, "
        f"median {words[len(words) // 2]}",
    ]
    return rows


def load(path: pathlib.Path) -> list[Item]:
    """The items of a JSON Lines file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def main() -> int:
    """Print faults and the composition."""
    here = pathlib.Path(__file__).resolve().parent
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--gazette", type=pathlib.Path, default=here.parents[1] / "dofrag/sample/gazette")
    parser.add_argument("--corpus", type=pathlib.Path, default=here / "corpus")
    parser.add_argument("--questions", type=pathlib.Path, default=here / "questions.jsonl")
    parser.add_argument("--twins", type=pathlib.Path, default=here / "twins.json")
    parser.add_argument("--against", type=pathlib.Path, action="append", default=[])
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")

    items = load(options.questions)
    twins = json.loads(options.twins.read_text(encoding="utf-8"))
    corpus = Corpus(options.gazette, options.corpus)
    faults = list(corpus.faults)
    for item in items:
        found = check_shape(item) or [*check_gold(item, corpus), *check_patterns(item)]
        faults += [f"{item.get('id')}: {fault}" for fault in found]
    repeated = collections.Counter(item["id"] for item in items)
    faults += [f"{name}: id used more than once" for name, times in repeated.items() if times > 1]
    counts = collections.Counter(item["category"] for item in items)
    faults += [f"{name}: {counts[name]} items, not {n}" for name, n in MINIMUM.items() if counts[name] < n]
    if len(items) < ITEMS_MINIMUM or sum(counts[name] for name in V4) < V4_MINIMUM:
        faults.append(f"{len(items)} items, {sum(counts[name] for name in V4)} of the seven categories")
    if len(corpus.added) < PUBLICATIONS_MINIMUM:
        faults.append(f"corpus: {len(corpus.added)} publications")
    faults += check_twins(items, twins, corpus)
    others = [(f"{path}:{other.get('id')}", other["question"]) for path in options.against for other in load(path)]
    faults += check_wording(items, others)

    lines = composition(items, twins, corpus)
    if not options.markdown:
        lines = [*faults, f"{len(items)} items, {len(faults)} faults", "", *lines]
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
