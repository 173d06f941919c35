"""`dof tools`: what the research tools are, and what one of them says, outside a run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from dofrag.cli.options import FOLDER, check_scopes, notice, parse_date, read_stdin
from dofrag.cli.output import clean, one_line, print_json, terminal_width, wrap

STATES = ("discover_documents", "discover_evidence", "read", "respond")


@click.group()
def tools() -> None:
    """Show the research tools, or call one outside a run."""


@tools.command("list")
@click.option("--state", type=click.Choice(STATES), help="Only the tools that are open in this state of a run.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document, with the schemas, instead of text.")
def list_tools(state: str | None, as_json: bool) -> None:
    """List the tools: what each is for, the state in which it opens, what it costs, its arguments."""
    from dofrag.tools import CORE, State
    from dofrag.tools.dispatch import open_tools

    specs = open_tools(CORE, State(state)) if state else CORE
    if as_json:
        keys = ("name", "summary", "read_only", "cost_units", "latency_ms", "schema")
        print_json(
            {
                "tools": [
                    {"opens_in": str(spec.opens_in)} | {key: getattr(spec, key) for key in keys} for spec in specs
                ]
            }
        )
        return
    width = terminal_width()
    for spec in specs:
        only = "read-only" if spec.read_only else "writes: refused"
        cost = f"{spec.cost_units} cost units, {spec.latency_ms} ms"
        click.echo(f"{spec.name}  (opens in {spec.opens_in}; {only}; {cost})")
        click.echo("\n".join(wrap(spec.summary, width, "  ")))
        for name, schema in spec.schema["properties"].items():
            click.echo(
                "\n".join(wrap(f"{name}: {_type(schema)}. {schema.get('description', '')}", width, "    ", "      "))
            )


def _type(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return " | ".join("null" if value is None else str(value) for value in schema["enum"])
    kinds = schema.get("type", "any")
    names = [kinds] if isinstance(kinds, str) else list(kinds)
    return " | ".join(f"array of {_type(schema['items'])}" if name == "array" else name for name in names)


@tools.command()
@click.argument("name")
@click.argument("arguments", metavar="JSON")
@click.option("--index", type=FOLDER, metavar="DIR", help="Index to use. Default: as `dof run`.")
@click.option("--as-of", metavar="DATE", help="Publication cut-off, YYYY-MM-DD. Default: the newest publication.")
@click.option("--scope", "scopes", multiple=True, metavar="NAME", help="Allow a restricted collection; repeatable.")
@click.option("--json", "as_json", is_flag=True, help="Print the envelope as one JSON document instead of text.")
@click.pass_context
def call(
    ctx: click.Context,
    name: str,
    arguments: str,
    index: Path | None,
    as_of: str | None,
    scopes: tuple[str, ...],
    as_json: bool,
) -> None:
    """Call the tool NAME with JSON arguments ('-' reads them from standard input).

    Every tool is open here, and every passage under the cut-off and scopes counts as seen. Exit code 1 when
    the tool refuses the call.
    """
    cut_off = parse_date(as_of, "--as-of")
    allowed = check_scopes(scopes)
    payload = read_stdin() if arguments == "-" else arguments
    from dofrag.wiring import call_tool

    envelope = call_tool(name, payload, index=index, as_of=cut_off, scopes=allowed, notice=notice)
    if as_json:
        print_json(envelope)
    else:
        click.echo("\n".join(_envelope_lines(envelope, terminal_width())))
    ctx.exit(0 if envelope["ok"] else 1)


def _envelope_lines(envelope: Mapping[str, Any], width: int) -> list[str]:
    if not envelope["ok"]:
        error = envelope["error"]
        lines = wrap(f"{envelope['tool']} refused: {error['code']}: {error['message']}", width)
        lines += wrap("allowed: " + ", ".join(error["allowed"]), width, "  ") if error["allowed"] else []
        return lines + (wrap(error["hint"], width, "  ") if error["hint"] else [])
    shown = f"{envelope['returned']} of {envelope['total']:,}"
    lines = [f"{envelope['tool']}: {shown}, published up to {envelope['as_of']}"]
    for code, source in envelope["sources"].items():
        facts = ", ".join(str(value) for key, value in source.items() if value and key != "title")
        lines += wrap(f"{code} {facts}: {one_line(source['title'])}", width, "  ", "    ")
    for result in envelope["results"]:
        lines += ["", *_object_lines(result, width, "  ")]
    return lines


def _object_lines(item: Mapping[str, Any], width: int, indent: str) -> list[str]:
    """`key: value` lines; lists of objects below their key, indented."""
    lines: list[str] = []
    for key, value in item.items():
        if isinstance(value, list) and value and isinstance(value[0], Mapping):
            lines.append(f"{indent}{key}:")
            for inner in value:
                lines += _object_lines(inner, width, indent + "    ")
        elif isinstance(value, str) and "\n" in value:
            lines.append(f"{indent}{key}:")
            lines += wrap(clean(value), width, indent + "    ")
        elif value not in (None, "", []):
            text = " > ".join(map(str, value)) if isinstance(value, list) else str(value)
            lines += wrap(f"{key}: {text}", width, indent, indent + "  ")
    return lines
