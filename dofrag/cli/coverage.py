"""`dof coverage`: what a question requires, and what one passage would support of it."""

from __future__ import annotations

from dataclasses import fields
from datetime import date
from typing import Any

import click

from dofrag.cli.coverage_check import check
from dofrag.cli.options import clean_text, parse_date
from dofrag.cli.output import print_json
from dofrag.domain.question import Base, Period, Premise, Question, Requirement, Source, SubQuestion

_OWN = frozenset({"id", "label", "rule", "span", "source"})


@click.group()
def coverage() -> None:
    """Show what a question requires, or test a passage against it."""


coverage.add_command(check)


@coverage.command()
@click.argument("text")
@click.option("--as-of", metavar="D", help="Publication cut-off, YYYY-MM-DD; dates without a year are read by it.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of text.")
def explain(text: str, as_of: str | None, as_json: bool) -> None:
    """Print the sub-questions and requirements found in TEXT, with the rule that found each."""
    from dofrag import wiring

    question = Question(text=clean_text(text), as_of=parse_date(as_of, "--as-of") or date.today())
    profile = wiring.profile()
    subs = profile.decompose(question)
    current = profile.asks_current(question.text)
    unused = profile.unused_words(question, subs)
    if as_json:
        print_json(
            {
                "question": question.text,
                "as_of": question.as_of.isoformat(),
                "profile": f"{profile.name}/{profile.rules_version}",
                "asks_current": current,
                "sub_questions": [_sub_json(s) for s in subs],
                "unused_words": list(unused),
            }
        )
        return
    for sub in subs:
        _print_sub(sub)
    click.echo(f"words not used: {', '.join(unused) or 'none'}")
    if current:
        click.echo("asks for what is in force: later reforms must be searched for")


def _print_sub(sub: SubQuestion) -> None:
    click.echo(f"{sub.id}  {sub.text}  ({sub.origin})")
    for requirement in sub.requirements:
        click.echo(f"  {requirement.id}  {_kind(requirement)}: {requirement.label}  (rule:{requirement.rule})")
        for name, value in _slots(requirement).items():
            click.echo(f"      {name}: {_shown(value)}")
    for premise in sub.premises:
        click.echo(f"  {premise.id}  premise {premise.slot}: {premise.label}")


def _sub_json(sub: SubQuestion) -> dict[str, Any]:
    return {
        "id": sub.id,
        "text": sub.text,
        "origin": sub.origin,
        "requirements": [
            {"id": r.id, "kind": _kind(r), "label": r.label, "rule": r.rule, "slots": _slots(r)}
            for r in sub.requirements
        ],
        "premises": [_premise_json(p) for p in sub.premises],
    }


def _premise_json(premise: Premise) -> dict[str, Any]:
    return {"id": premise.id, "slot": premise.slot, "label": premise.label, "expected": premise.expected,
            "terms": list(premise.terms), "unit": premise.unit}  # fmt: skip


def _kind(requirement: Requirement) -> str:
    return type(requirement).__name__.removesuffix("Required").lower()


def _slots(requirement: Base) -> dict[str, Any]:
    """The slots that are filled, as JSON values; those of the source under `source.…`."""
    own = {f.name: getattr(requirement, f.name) for f in fields(requirement) if f.name not in _OWN}
    empty = (None, False, ())
    filled = {name: _value(value) for name, value in own.items() if not any(value is e or value == () for e in empty)}
    source = {f.name: getattr(requirement.source, f.name) for f in fields(Source)}
    filled |= {f"source.{name}": _value(value) for name, value in source.items() if value}
    return filled


def _value(value: Any) -> Any:
    if isinstance(value, Period):
        return {"from": value.start.isoformat(), "to": value.end.isoformat(), "role": value.role.value}
    if isinstance(value, tuple):
        return list(value)
    return value.isoformat() if isinstance(value, date) else value


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return f"{value['from']} … {value['to']} ({value['role']})"
    return ", ".join(str(v) for v in value) if isinstance(value, list) else str(value)
