"""The figures of scale.py as Markdown."""

from __future__ import annotations

import platform
from datetime import UTC, datetime
from typing import Any

from scaling.asking import AGAIN

OTHERS = {"fts5": "texts", "fts5-titles": "texts, titles and headings"}
"""Runs of SQLite's own search, and what each searches; the last is what the product searches."""

TOOLS = {
    "search_evidence": "search_evidence",
    "search_evidence, again": f"search_evidence, the same questions {AGAIN} times more, the best of each",
    "search_evidence, no dates": "search_evidence, no dates",
    "search_documents": "search_documents",
}


def tables(figures: dict[str, Any], markdown: bool) -> str:
    """Every figure that the stages gave, with what it was measured on."""
    build, found = figures["build"], figures["search"]
    others = [(said, figures[name], figures[f"{name}-build"]) for name, said in OTHERS.items()]
    evidence = found["search_evidence"]
    lines = [
        f"{build['chunks']:,} chunks in {build['publications']:,} made-up publications"
        + (", parsed from Markdown" if markdown else "")
        + f"; {datetime.now(UTC):%Y-%m-%d}, {platform.machine()}, {_cores()}, Python {platform.python_version()}.",
        "",
        "| Build | |",
        "|---|---|",
        f"| files to searchable index, on the clock | {_rate(build, 'seconds')} |",
        f"| the same by processor time | {_rate(build, 'cpu_seconds')} |",
        f"| text | {build['text'] / 1e6:,.0f} MB |",
        f"| store | {build['store'] / 1e6:,.0f} MB, {build['store'] / build['text']:.2f} of the text |",
        f"| search index | {build['search'] / 1e6:,.0f} MB, {build['search'] / build['text']:.2f} of the text |",
        *(
            f"| FTS5 over the same {said} | {built['seconds']:,.0f} s, {built['bytes'] / 1e6:,.0f} MB |"
            for said, _, built in others
        ),
        "",
        "| Milliseconds | clock p50 | clock p95 | processor p50 | processor p95 |",
        "|---|---|---|---|---|",
        *(_row(said, found[name]) for name, said in TOOLS.items()),
        *(_row(f"FTS5 over {said}, ten words, dates, top 10", other) for said, other, _ in others),
        *(_row(name, found[name]) for name in ("one chunk", "one publication", "outline of one")),
        "",
        *(
            f"`search_evidence` against FTS5 over {said}, clock: "
            f"{other['wall_p50'] / evidence['wall_p50']:.0f} times as fast at the median, "
            f"{other['wall_p95'] / evidence['wall_p95']:.0f} times at p95; processor: "
            f"{other['cpu_p50'] / evidence['cpu_p50']:.0f} and {other['cpu_p95'] / evidence['cpu_p95']:.0f} times.\n"
            for said, other, _ in others
        ),
        f"Own memory of the searching process: {found['memory']['anonymous']:.0f} MB after "
        f"{found['searches']:,} searches, {found['memory after all']['anonymous']:.0f} MB after all reads "
        f"(with file pages that only it maps {found['memory after all']['uss']:.0f} MB).",
        *_updates(figures),
    ]
    return "\n".join(lines)


def _updates(figures: dict[str, Any]) -> list[str]:
    if "update" not in figures:
        return []
    done, after = figures["update"], figures["search-after"]["search_evidence"]
    readers = "; ".join(
        f"{r['searches']:,} searches, p95 {r['wall_p95']:.0f} ms ({r['cpu_p95']:.0f} by processor)"
        for r in done["readers"]
    )
    refusal = done["second writer"]
    lines = [
        "",
        "| Update | |",
        "|---|---|",
        f"| {done['publications']} publications ({done['chunks']:,} chunks) committed | {done['seconds']:.1f} s, "
        f"{done['cpu_seconds']:.1f} s of processor time |",
        f"| two processes searching meanwhile | {readers} |",
        f"| a second writer | exit code {refusal['exit']}, `{refusal['code']}` |",
        f"| `search_evidence` afterwards | p50 {after['wall_p50']:.1f}, p95 {after['wall_p95']:.1f} ms "
        f"(processor {after['cpu_p50']:.1f}, {after['cpu_p95']:.1f}) |",
    ]
    if "optimize" in figures:
        done, after = figures["optimize"], figures["search-optimized"]["search_evidence"]
        lines += [
            f"| `dof index optimize` | {done['seconds']:,.0f} s, {done['cpu_seconds']:,.0f} s of processor time |",
            f"| `search_evidence` afterwards | p50 {after['wall_p50']:.1f}, p95 {after['wall_p95']:.1f} ms "
            f"(processor {after['cpu_p50']:.1f}, {after['cpu_p95']:.1f}) |",
        ]
    return lines


def _row(name: str, figures: dict[str, float]) -> str:
    cells = " | ".join(f"{figures[key]:,.1f}" for key in ("wall_p50", "wall_p95", "cpu_p50", "cpu_p95"))
    return f"| {name} | {cells} |"


def _rate(build: dict[str, Any], key: str) -> str:
    return f"{build[key]:,.0f} s, {build['chunks'] / build[key]:,.0f} chunks/s"


def _cores() -> str:
    import os

    return f"{os.cpu_count()} cores"
