"""The report as one HTML file: it loads nothing, runs nothing, and shows text of runs as text only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from dofrag.evals.metrics import Rate
from dofrag.evals.sections import Section
from dofrag.evals.table import interval, percent

_STYLE = """
:root{color-scheme:light dark}
body{font:15px/1.45 system-ui,sans-serif;max-width:75rem;margin:2rem auto;padding:0 1rem}
table{border-collapse:collapse;width:100%;margin:.6rem 0 1.4rem;font-size:13px}
th,td{text-align:left;padding:.25rem .5rem;border-bottom:1px solid #8886;vertical-align:top}
tr:last-child td{font-weight:600}.plain tr:last-child td{font-weight:400}.scroll{overflow-x:auto}
svg{width:100%;max-width:44rem;height:auto}svg text{font:12px system-ui,sans-serif;fill:currentColor}
.bar{fill:#4477aa}.bad .bar{fill:#bb5544}.reach{stroke:currentColor;stroke-width:1.5}.axis{stroke:#8888}
details{margin:.3rem 0}pre{white-space:pre-wrap;font-size:12px}.banner{font-weight:600}
"""


def render_html(title: str, banner: str, parts: Sequence[Section], rows: Sequence[Mapping[str, Any]]) -> str:
    """The whole page. `rows` are the episode records, to look into one by one."""
    body = [f"<h1>{escape(title)}</h1>"]
    if banner:
        body.append(f'<p class="banner">{escape(banner)}</p>')
    for part in parts:
        body.append(_section(part))
        if part.title == "Question by question":
            body += [_episode(r) for r in rows]
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f"<style>{_STYLE}</style></head><body>\n" + "\n".join(body) + "\n</body></html>\n"
    )


def _section(part: Section) -> str:
    head = f"<h2>{escape(part.title)}</h2>" if part.title else ""
    said = "".join(f"<p>{escape(line)}</p>" for line in part.text)
    table = _table(part.head, part.rows, part.plain) if part.head else ""
    return head + said + table + "".join(bars(title, rates, kind) for title, rates, kind in part.plots)


def bars(title: str, rates: Sequence[tuple[str, Rate]], kind: str = "") -> str:
    """Horizontal bars from 0 to 100 %, each with its interval; a rate of nothing says n/a."""
    left, wide, step = 230, 340, 22
    height = step * len(rates) + 26
    marks = [f'<text x="0" y="14">{escape(title)}</text>']
    for n, (name, figure) in enumerate(rates):
        y = 24 + n * step
        marks.append(f'<text x="{left - 8}" y="{y + 12}" text-anchor="end">{escape(name)}</text>')
        value = figure.value
        if value is not None:
            marks.append(f'<rect class="bar" x="{left}" y="{y}" width="{wide * value:.1f}" height="15"/>')
        if figure.low is not None and figure.high is not None:
            x1, x2 = left + wide * figure.low, left + wide * figure.high
            marks.append(f'<line class="reach" x1="{x1:.1f}" x2="{x2:.1f}" y1="{y + 7.5}" y2="{y + 7.5}"/>')
        label = f"{percent(value)} [{interval(figure)}]" if value is not None else "n/a"
        marks.append(f'<text x="{left + wide + 8}" y="{y + 12}">{escape(label)}</text>')
    marks.append(f'<line class="axis" x1="{left}" x2="{left}" y1="20" y2="{height}"/>')
    head = f'<svg class="{kind}" viewBox="0 0 760 {height}" role="img" aria-label="{escape(title)}">'
    return head + "".join(marks) + "</svg>"


def _episode(record: Mapping[str, Any]) -> str:
    """One run, to look into: answer, nuggets, what was wrong."""
    g = record["grade"]
    rows = [["core" if n["vital"] else "extra", n["text"], "found" if n["found"] else percent(n["share"])]
            for n in g["nuggets"]]  # fmt: skip
    answer = str(record["result"].get("answer") or "(no answer)")[:6_000]
    why = "".join(f"<li>{escape(str(w))}</li>" for w in g["why"])
    name = (
        f"{record['question_id']}, {record['variant']}, pass {record['pass']}: "
        f"{record['terminal_state']}/{record['termination_reason']} (run {record['run_id']})"
    )
    nuggets = _table(["", "Nugget", "Found"], rows, plain=True) if rows else ""
    return f"<details><summary>{escape(name)}</summary><ul>{why}</ul>{nuggets}<pre>{escape(answer)}</pre></details>"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], plain: bool = False) -> str:
    top = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    body = "".join("<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows)
    kind = ' class="plain"' if plain else ""
    return f'<div class="scroll"><table{kind}><tr>{top}</tr>{body}</table></div>'
