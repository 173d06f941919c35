"""Check the retrieval question set against the folder of official text.

Usage:
    python eval/retrieval/check.py DATA_FOLDER [QUESTIONS_FILE]

DATA_FOLDER is the folder of official text: the `source` of every gold entry is
a path relative to it. QUESTIONS_FILE is `questions.jsonl` beside this script
unless given. Only the standard library is used.

What is checked:
  - ids are unique, the fields are there, a question has 8 to 30 words;
  - every quote has 40 to 300 characters and stands verbatim in its file, after
    line ends are normalised (an .html file is first decoded: tags become
    spaces, entities characters, runs of white space one space; a file that is
    not UTF-8, as the Word file, is read byte by byte as Latin-1);
  - every nugget has a pattern that hits a quote of its item, every hop (a gold
    group, or an entry without one) is hit by some nugget, and no pattern hits
    the question; patterns are tried on accent-folded lower-case text with white
    space joined;
  - entries of a group answer alike: a pattern of each nugget that hits one of
    them hits the others;
  - an item of two hops or more has at least as many hops in its gold;
  - no two questions share six words in a row;
  - dev and test halves are even, over all and in each category and phrasing.

Faults are printed one a line and the exit code is 1; then come the counts.
"""

import argparse
import collections
import html
import json
import pathlib
import re
import sys
import unicodedata

FIELDS = (
    "id",
    "category",
    "question",
    "as_of",
    "persona",
    "phrasing",
    "hops",
    "expected_state",
    "expected_reason",
    "sub_questions",
    "gold",
    "forbidden",
    "reference_answer",
    "notes",
    "subset",
)
PHRASINGS = ("lay", "technical")
SUBSETS = ("dev", "test")


def fold(text):
    """Lower-case text without accents, white space joined."""
    marks = unicodedata.normalize("NFKD", text.lower())
    return " ".join("".join(char for char in marks if not unicodedata.combining(char)).split())


def read_source(path):
    """Text of one file, line ends normalised; HTML decoded to its visible text."""
    data = path.read_bytes()
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if path.suffix == ".html":
        text = re.sub(r"(?is)<(script|style)\b.*?</\1>", " ", text)
        text = re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", text)))
    return text


def runs_of_words(question, length=6):
    """Every run of `length` words of a question."""
    words = re.findall(r"\w+", fold(question))
    return {tuple(words[start : start + length]) for start in range(len(words) - length + 1)}


def hops_of(item):
    """Gold entries of an item, alternatives of a group together."""
    hops = collections.OrderedDict()
    for index, entry in enumerate(item["gold"]):
        hops.setdefault(entry.get("group") or f"entry {index}", []).append(entry)
    return hops


def hit(patterns, text):
    return any(re.search(pattern, text, re.IGNORECASE) for pattern in patterns)


def check_quotes(item, folder, sources):
    for entry in item["gold"]:
        name = entry["source"]
        if name not in sources:
            path = folder / name
            sources[name] = read_source(path) if path.is_file() else None
        if sources[name] is None:
            yield f"no file {name}"
            continue
        for quote in entry["quotes"]:
            if not 40 <= len(quote) <= 300:
                yield f"quote of {len(quote)} characters: {quote[:50]!r}"
            if quote.replace("\r\n", "\n") not in sources[name]:
                yield f"quote not in {name}: {quote[:50]!r}"


def check_nuggets(item):
    question = fold(item["question"])
    hops = hops_of(item)
    nuggets = [nugget for sub in item["sub_questions"] for nugget in sub["nuggets"]]
    used = set()
    for nugget in nuggets:
        found = False
        for pattern in nugget["accept"]:
            if re.search(pattern, question, re.IGNORECASE):
                yield f"pattern hits the question: {pattern}"
        for name, entries in hops.items():
            hits = [hit(nugget["accept"], fold(" … ".join(entry["quotes"]))) for entry in entries]
            if any(hits):
                found = True
                used.add(name)
                if not all(hits):
                    missed = [entry["source"] for entry, one in zip(entries, hits, strict=True) if not one]
                    yield f"alternative without {nugget['text']!r}: {', '.join(missed)}"
        if not found:
            yield f"no quote is hit by {nugget['accept']}"
    for name in hops:
        if name not in used:
            yield f"no nugget hits {name}"
    if len(hops) < item["hops"]:
        yield f"{item['hops']} hops, {len(hops)} in the gold"


def check_item(item, folder, sources):
    missing = [field for field in FIELDS if field not in item]
    if missing:
        yield f"fields missing: {', '.join(missing)}"
    count = len(item["question"].split())
    if not 8 <= count <= 30:
        yield f"{count} words"
    if item.get("phrasing") not in PHRASINGS or item.get("subset") not in SUBSETS:
        yield "phrasing or subset unknown"
    yield from check_quotes(item, folder, sources)
    yield from check_nuggets(item)


def check_set(items):
    ids = collections.Counter(item["id"] for item in items)
    for name, count in ids.items():
        if count > 1:
            yield f"{name}: id used {count} times"
    seen = {}
    for item in items:
        for run in runs_of_words(item["question"]):
            other = seen.setdefault(run, item["id"])
            if other != item["id"]:
                yield f"{item['id']}: shares with {other}: {' '.join(run)}"
    strata = collections.Counter((item["category"], item["phrasing"], item.get("subset")) for item in items)
    for category, phrasing in sorted({key[:2] for key in strata}):
        halves = [strata[category, phrasing, subset] for subset in SUBSETS]
        if abs(halves[0] - halves[1]) > 1:
            yield f"{category}, {phrasing}: uneven halves {halves}"


def print_counts(items):
    print(f"{'category':<17}{'all':>5}{'lay':>5}{'tech':>6}{'dev':>5}{'test':>6}{'2+ hops':>9}")
    rows = [*sorted({item["category"] for item in items}), "all"]
    for row in rows:
        group = [item for item in items if row in ("all", item["category"])]
        phrasing = collections.Counter(item["phrasing"] for item in group)
        subset = collections.Counter(item.get("subset") for item in group)
        several = sum(item["hops"] > 1 for item in group)
        print(
            f"{row:<17}{len(group):>5}{phrasing['lay']:>5}{phrasing['technical']:>6}"
            f"{subset['dev']:>5}{subset['test']:>6}{several:>9}"
        )
    first = {entries[0]["source"] for item in items for entries in hops_of(item).values()}
    every = {entry["source"] for item in items for entry in item["gold"]}
    print(f"distinct sources: {len(first)} ({len(every)} with the alternatives)")


def main():
    parser = argparse.ArgumentParser(description="Check the retrieval question set.")
    parser.add_argument("folder", type=pathlib.Path, help="the folder of official text")
    parser.add_argument(
        "questions", type=pathlib.Path, nargs="?", default=pathlib.Path(__file__).with_name("questions.jsonl")
    )
    options = parser.parse_args()
    lines = options.questions.read_text(encoding="utf-8").splitlines()
    items = [json.loads(line) for line in lines if line.strip()]
    sources = {}
    faults = [f"{item['id']}: {fault}" for item in items for fault in check_item(item, options.folder, sources)]
    faults += check_set(items)
    for fault in faults:
        print(fault)
    print_counts(items)
    print(f"faults: {len(faults)}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
