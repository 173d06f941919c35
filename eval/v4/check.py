"""Check the question set v4 (sample gazette) against the publications it was written from.

Usage:
    python eval/v4/check.py [--gazette FOLDER] [--questions FILE] [--against FILE]...

Without options: `questions.jsonl` beside this script, and the sample gazette of this repository. `--against` names
other question sets (JSON Lines with a `question` in each item) that must not share six words in a row with this one.
Only the standard library is used.

What is checked:
  - the fields are there and of the right kind, ids are unique, six items in each of the seven categories;
  - state and reason belong together; `as_of` is within the gazette's range; no gold is newer than it or restricted;
  - `source` is a file of the gazette (or a code that leads to one), title and every quote stand in it, the quotes
    verbatim (Markdown and text as they are; .html, .json, .docx and .pdf by their visible text, white space joined),
    and the date in the path is the publication's;
  - every pattern compiles, is ASCII and has at most four repetitions without an end, and hits whether folding keeps
    the enye or not; every nugget has one that hits a gold quote or the reference answer; every vital nugget is met by
    the reference answer; no pattern hits the question; every answered item has a vital nugget, the others have none;
  - entries of a group are alternatives: another source, or another passage of the same one;
  - no `forbidden` pattern hits the question, the reference answer, or the gold quotes taken together;
  - `hops` is the number of gold groups (an entry without group is one);
  - no two questions share six words in a row.

Faults are printed one a line and the exit code is 1; then come the counts.
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
import zipfile
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
}
EACH = 6
FIELDS: dict[str, Any] = {
    "id": str,
    "category": str,
    "question": str,
    "as_of": str,
    "persona": str,
    "expected_state": str,
    "expected_reason": (str, type(None)),
    "sub_questions": list,
    "gold": list,
    "forbidden": list,
    "reference_answer": str,
    "notes": str,
    "hops": int,
    "phrasing": str,
    "subset": str,
    "expected_tools": list,
}
REASONS = {
    "answered": {"closed", "closed_contested", "premise_corrected"},
    "abstained": {"not_in_corpus"},
}
PHRASINGS = {"formal", "ciudadana"}
SUBSETS = {"single_hop", "multi_hop", "contested", "unanswerable"}
FIRST_TOOLS = {"list_publications", "search_documents"}
RANGE = ("2020-05-11", "2025-10-14")
RUN = 6
UNBOUNDED = 4


def fold(text: str, tilde: str = "n") -> str:
    """Lower-case text without accents, white space joined; `tilde` is what becomes of an enye."""
    marks = unicodedata.normalize("NFKD", text.lower().replace("\N{LATIN SMALL LETTER N WITH TILDE}", "\0"))
    return " ".join("".join(char for char in marks if not unicodedata.combining(char)).split()).replace("\0", tilde)


def strip_tags(text: str) -> str:
    """The visible text of HTML, in one line."""
    text = re.sub(r"(?is)<(script|style)\b.*?</\1>", " ", text)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", text)).split())


def read_source(path: pathlib.Path) -> str:
    """The text of one file of the gazette."""
    if path.suffix == ".docx":
        with zipfile.ZipFile(path) as package:
            body = package.read("word/document.xml").decode("utf-8")
        paragraphs = re.findall(r"(?s)<w:p[ >].*?</w:p>", body)
        return " ".join(html.unescape("".join(re.findall(r"<w:t[^>]*>([^<]*)</w:t>", p))) for p in paragraphs)
    if path.suffix == ".pdf":
        shown = re.findall(rb"\(((?:\\.|[^\\)])*)\) Tj", path.read_bytes())
        return " ".join(re.sub(r"\\(.)", r"\1", line.decode("cp1252")) for line in shown)
    text = path.read_bytes().decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
    if path.suffix == ".html":
        return strip_tags(text)
    if path.suffix == ".json":
        note = json.loads(text)["Nota"]
        return str(note["titulo"]) + " " + strip_tags(note["cadenaContenido"])
    return text


class Gazette:
    """The files of the gazette by path and by publication code."""

    def __init__(self, root: pathlib.Path) -> None:
        self.root = root
        self.paths = {p.relative_to(root).as_posix(): p for p in sorted(root.rglob("*")) if p.is_file()}
        self.texts: dict[str, str] = {}

    def find(self, source: str) -> str | None:
        """The path that a path or code leads to."""
        if source in self.paths:
            return source
        cut = re.fullmatch(r"(MAT|VES|EXT)-(\d{4})(\d\d)(\d\d)-\d{3}", source)
        if cut:
            edition, year, month, day = cut.groups()
            ending = f"/{day}{month}{year}-{edition}.md"
        elif re.fullmatch(r"\d{7}(-\d+)?", source):
            ending = f"_{source.partition('-')[0]}.md"
        else:
            return None
        return next((rel for rel in self.paths if rel.endswith(ending)), None)

    def text(self, rel: str) -> str:
        """The text of a file, read once."""
        if rel not in self.texts:
            self.texts[rel] = read_source(self.paths[rel])
        return self.texts[rel]


def hits(patterns: list[str], text: str) -> list[str]:
    """The patterns that hit the folded text, whether or not folding takes an enye for an n."""
    kept, taken = fold(text, "\N{LATIN SMALL LETTER N WITH TILDE}"), fold(text)
    return [p for p in patterns if all(re.search(p, folded, re.IGNORECASE) for folded in (kept, taken))]


def groups_of(item: Item) -> dict[str, list[Item]]:
    """The gold entries of an item by group; an entry without one stands alone."""
    groups: dict[str, list[Item]] = {}
    for number, entry in enumerate(item["gold"]):
        groups.setdefault(entry.get("group") or f"#{number}", []).append(entry)
    return groups


def check_shape(item: Item) -> list[str]:
    """Faults in the fields of one item."""
    faults = []
    for field, kind in FIELDS.items():
        if field not in item:
            faults.append(f"field {field} is missing")
        elif not isinstance(item[field], kind):
            faults.append(f"field {field} is not of the right kind")
    if faults:
        return faults
    faults += [f"unknown field {field}" for field in item if field not in FIELDS]
    prefix = CATEGORIES.get(item["category"])
    if prefix is None:
        faults.append(f"unknown category {item['category']}")
    elif not re.fullmatch(rf"SG-{prefix}-\d{{3}}", item["id"]):
        faults.append("the id does not fit the category")
    if item["expected_reason"] not in REASONS.get(item["expected_state"], ()):
        faults.append(f"{item['expected_state']} does not go with {item['expected_reason']}")
    if not RANGE[0] <= item["as_of"] <= RANGE[1]:
        faults.append(f"as_of {item['as_of']} is out of range")
    if item["phrasing"] not in PHRASINGS or item["subset"] not in SUBSETS:
        faults.append("unknown phrasing or subset")
    if not item["expected_tools"] or not set(item["expected_tools"]) <= FIRST_TOOLS:
        faults.append("expected_tools holds a tool that cannot come first")
    if item["hops"] != len(groups_of(item)):
        faults.append(f"hops is {item['hops']}, gold has {len(groups_of(item))} groups")
    if not item["forbidden"]:
        faults.append("nothing is forbidden")
    ids = [sub["id"] for sub in item["sub_questions"]]
    if not ids or len(set(ids)) != len(ids):
        faults.append("sub-questions are missing or share an id")
    return faults


def check_gold(item: Item, gazette: Gazette) -> list[str]:
    """Faults in the gold of one item."""
    faults = []
    answered = item["expected_state"] == "answered"
    if answered != bool(item["gold"]):
        faults.append("gold goes with answered items, and only with them")
    for entry in item["gold"]:
        rel = gazette.find(entry["source"])
        if rel is None:
            faults.append(f"no file for {entry['source']}")
            continue
        if rel.startswith("@"):
            faults.append(f"{rel} is restricted")
        text = gazette.text(rel)
        if fold(entry["title"]) not in fold(text):
            faults.append(f"title not in {rel}")
        day = re.match(r"(\d{4})/(\d\d)/(\d\d)\d{6}/", rel)
        if day and entry["publication_date"] != "-".join(day.groups()):
            faults.append(f"date {entry['publication_date']} is not that of {rel}")
        if entry["publication_date"] is None and not rel.startswith("leyes/"):
            faults.append(f"{rel} has a date")
        if (entry["publication_date"] or "") > item["as_of"]:
            faults.append(f"{rel} is newer than as_of")
        if not entry["quotes"]:
            faults.append(f"no quote of {rel}")
        faults += [f"not in {rel}: {quote[:60]}" for quote in entry["quotes"] if quote not in text]
    for name, entries in groups_of(item).items():
        passages = {(entry["source"], tuple(entry["quotes"])) for entry in entries}
        if len(passages) != len(entries) or (len(entries) == 1 and not name.startswith("#")):
            faults.append(f"group {name} has no alternatives")
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
        if not pattern.isascii():
            faults.append(f"pattern with accents: {pattern}")
        if re.search(pattern, "") or len(re.findall(r"(?<!\\)[*+]", pattern)) > UNBOUNDED:
            faults.append(f"pattern that matches anything, or takes too long: {pattern}")
    if item["expected_state"] == "answered" and not any(nugget["vital"] for nugget in nuggets):
        faults.append("no vital nugget")
    if item["expected_state"] != "answered" and nuggets:
        faults.append("an item without answer has nuggets")
    for nugget in nuggets:
        accept = nugget["accept"]
        if not accept or not isinstance(nugget["vital"], bool):
            faults.append(f"nugget without pattern or vital: {nugget['text']}")
        if not any(hits(accept, text) for text in [*quotes, reference]):
            faults.append(f"nothing hits: {nugget['text']}")
        if nugget["vital"] and not hits(accept, reference):
            faults.append(f"the reference answer lacks: {nugget['text']}")
        faults += [f"hits the question: {pattern}" for pattern in hits(accept, item["question"])]
    faults += [f"forbidden, but in the question: {p}" for p in hits(item["forbidden"], item["question"])]
    faults += [f"forbidden, but in the reference answer: {p}" for p in hits(item["forbidden"], reference)]
    faults += [f"forbidden, but in the gold quotes: {p}" for p in hits(item["forbidden"], " ".join(quotes))]
    return faults


def word_runs(question: str) -> set[tuple[str, ...]]:
    """Every run of six words of a question."""
    words = re.findall(r"\w+", fold(question))
    return {tuple(words[start : start + RUN]) for start in range(len(words) - RUN + 1)}


def check_overlap(items: list[Item], others: list[tuple[str, str]]) -> list[str]:
    """Questions that share six words in a row."""
    faults = []
    seen: dict[tuple[str, ...], str] = {}
    for name, question in others:
        seen.update(dict.fromkeys(word_runs(question), name))
    for item in items:
        runs = word_runs(item["question"])
        shared = [(" ".join(run), seen[run]) for run in sorted(runs) if run in seen]
        faults += [f'{item["id"]}: shares "{words}" with {name}' for words, name in shared]
        seen.update(dict.fromkeys(runs, str(item["id"])))
    return faults


def load(path: pathlib.Path) -> list[Item]:
    """The items of a JSON Lines file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def counts(items: list[Item], faults: int) -> list[str]:
    """What the set holds, a line for each matter."""
    nuggets = [nugget for item in items for sub in item["sub_questions"] for nugget in sub["nuggets"]]
    gold = [entry for item in items for entry in item["gold"]]
    dates = sorted({item["as_of"] for item in items})
    lines = [f"{len(items)} items, {faults} faults"]
    for field in ("category", "expected_reason", "subset", "phrasing"):
        numbers = collections.Counter(str(item[field]) for item in items)
        lines.append(f"{field}: " + ", ".join(f"{name} {number}" for name, number in sorted(numbers.items())))
    lines.append(f"nuggets: {len(nuggets)}, vital {sum(nugget['vital'] for nugget in nuggets)}")
    sources = len({entry["source"] for entry in gold})
    lines.append(f"gold: {len(gold)} entries, {sum(item['hops'] for item in items)} hops, {sources} sources")
    lines.append(f"forbidden: {sum(len(item['forbidden']) for item in items)} patterns")
    lines.append(f"as_of: {len(dates)} dates, {dates[0]} to {dates[-1]}")
    return lines


def main() -> int:
    """Print faults and counts."""
    here = pathlib.Path(__file__).resolve().parent
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--gazette", type=pathlib.Path, default=here.parents[1] / "dofrag/sample/gazette")
    parser.add_argument("--questions", type=pathlib.Path, default=here / "questions.jsonl")
    parser.add_argument("--against", type=pathlib.Path, action="append", default=[])
    options = parser.parse_args()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")

    items = load(options.questions)
    gazette = Gazette(options.gazette)
    faults = []
    for item in items:
        found = check_shape(item) or [*check_gold(item, gazette), *check_patterns(item)]
        faults += [f"{item.get('id')}: {fault}" for fault in found]
    repeated = [name for name, times in collections.Counter(item["id"] for item in items).items() if times > 1]
    faults += [f"{name}: id used more than once" for name in repeated]
    categories = collections.Counter(item["category"] for item in items)
    faults += [f"{name}: {categories[name]} items, not {EACH}" for name in CATEGORIES if categories[name] != EACH]
    others = [(f"{path}:{other.get('id')}", other["question"]) for path in options.against for other in load(path)]
    faults += check_overlap(items, others)

    sys.stdout.write("".join(f"{line}\n" for line in [*faults, *counts(items, len(faults))]))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
