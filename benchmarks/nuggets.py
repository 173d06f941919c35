"""Development figures on an annotated question set: how much of what each answer must say was quoted.

    python benchmarks/nuggets.py FOLDER --index DIR [--only ID,…] [--json FILE]

FOLDER holds `nuggets.jsonl`: one question a line with its atomic facts, each with the strings that a quote must hold
and the publication it must come from. A nugget counts when every one of its strings stands inside quotes of that
publication, in the claims of an answered or a partial run. Each question runs with its own cut-off, the rule planner
and the default limits. The set was used while the rules were written: these are development figures.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
from collections import defaultdict
from datetime import date
from pathlib import Path
from typing import Any

from dofrag import wiring
from dofrag.text.fold import fold


def quoted(result: dict[str, Any]) -> dict[str, str]:
    """All quotes of a result by publication code, folded and joined."""
    code_of = {s["chunk_id"]: s["publication_code"] for s in result["sources"]}
    quotes: dict[str, list[str]] = defaultdict(list)
    for claim in result["claims"]:
        for citation in claim["citations"]:
            quotes[code_of[citation["chunk_id"]]].append(citation["quote"])
    return {code: squeeze(" ⏎ ".join(texts)) for code, texts in quotes.items()}


def squeeze(text: str) -> str:
    """Folded, without emphasis, blanks and line breaks after a hyphen: layout is no part of what is quoted."""
    return re.sub(r"(?<=\w)- (?=\w)", "-", " ".join(fold(text).replace("*", "").split()))


def hits(nugget: dict[str, Any], quotes: dict[str, str], claims: list[dict[str, Any]]) -> bool:
    """Whether every string of a nugget is quoted; a derived one must be computed, with its inputs quoted."""
    if nugget["derived"] and nugget["codigo"] is None:
        results = [c["computed"]["result"].lstrip("-") for c in claims if c["computed"]]
        return any(result in nugget["expected"] for result in results)
    text = quotes.get(nugget["codigo"])
    return text is not None and all(squeeze(m) in text for m in nugget["match"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--index", type=Path, required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    only = set(filter(None, options.only.split(",")))
    rows = []
    with tempfile.TemporaryDirectory() as traces:
        for line in (options.folder / "nuggets.jsonl").read_text(encoding="utf-8").splitlines():
            item = json.loads(line)
            if only and item["id"] not in only:
                continue
            as_of = date.fromisoformat(item["as_of"])
            outcome = wiring.run_question(item["question"], as_of=as_of, index=options.index, trace_dir=Path(traces))
            if outcome.error is not None:
                raise outcome.error
            quotes = quoted(outcome.result)
            core = [n for n in item["nuggets"] if n["core"]]
            missed = [n["id"] for n in core if not hits(n, quotes, outcome.result["claims"])]
            rows.append((item, outcome.result, len(core), missed))
            state = f"{outcome.result['terminal_state']}/{outcome.result['reason']}"
            print(f"{item['id']}  {state:32} {len(core) - len(missed)}/{len(core)}  missed {' '.join(missed) or '-'}")
    table(rows)
    if options.json:
        options.json.write_text(json.dumps([r[1] for r in rows], ensure_ascii=False, indent=1), encoding="utf-8")


def table(rows: list[Any]) -> None:
    """Per category: questions, answered, answered though a core nugget is missing, core nuggets quoted."""
    print(f"\n{'category':26} {'n':>3} {'answered':>8} {'missing':>8} {'core':>9} {'share':>6}")
    categories = list(dict.fromkeys(r[0]["category"] for r in rows))
    for category in [*categories, "all"]:
        part = [r for r in rows if category in ("all", r[0]["category"])]
        answered = [r for r in part if r[1]["terminal_state"] == "answered"]
        wrong = [r for r in answered if r[3]]
        total = sum(r[2] for r in part)
        found = total - sum(len(r[3]) for r in part)
        share = f"{found:4}/{total:4} {found / total:6.1%}"
        print(f"{category:26} {len(part):3} {len(answered):8} {len(wrong):8} {share}")
    false = [r for r in rows if r[0]["category"].startswith("negative")]
    corrected = sum(r[1]["reason"] == "premise_corrected" for r in false)
    print(f"\nfalse premises that ended premise_corrected: {corrected} of {len(false)}")


if __name__ == "__main__":
    main()
