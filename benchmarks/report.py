"""Putting what a benchmark printed into a document, between its two marks: figures are never copied by hand."""

from __future__ import annotations

from pathlib import Path


def write_between(path: Path, name: str, text: str) -> None:
    """Replace what stands between `<!-- NAME: begin -->` and `<!-- NAME: end -->`; where the file or its marks are
    missing, add them at the end."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    old = path.read_text(encoding="utf-8") if path.exists() else ""
    before, found, rest = old.partition(begin)
    after = rest.partition(end)[2] if found else "\n"
    if not found and before and not before.endswith("\n\n"):
        before += "\n"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{before}{begin}\n{text.strip()}\n{end}{after}", encoding="utf-8")
