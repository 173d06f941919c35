"""`dof tools list`, and the shape of what `dof tools call` prints."""

from __future__ import annotations

import pytest
from cli_front import dof

from dofrag.cli.tools import STATES, _envelope_lines
from dofrag.tools import CORE, State

OPEN = {
    "discover_documents": ["list_publications", "search_documents"],
    "discover_evidence": ["list_publications", "search_documents", "search_evidence", "browse_document"],
    "read": ["list_publications", "search_documents", "search_evidence", "browse_document", "read_chunks"],
    "respond": ["list_publications", "search_documents", "search_evidence", "browse_document", "read_chunks"],
}


def test_the_states_offered_are_those_there_are() -> None:
    assert list(STATES) == [str(s) for s in State]


@pytest.mark.parametrize("state", OPEN)
def test_list_by_state(state: str) -> None:
    done = dof("tools", "list", "--state", state, "--json")
    assert [t["name"] for t in done.document["tools"]] == OPEN[state]
    assert all(name in dof("tools", "list", "--state", state).out for name in OPEN[state])


def test_list_has_closed_schemas_and_says_what_is_read_only() -> None:
    tools = dof("tools", "list", "--json").document["tools"]
    assert len(tools) == 5
    for tool in tools:
        schema = tool["schema"]
        assert schema["additionalProperties"] is False
        assert sorted(schema["required"]) == sorted(schema["properties"])
        assert tool["read_only"] is True
        assert tool["opens_in"] in OPEN


def test_list_for_people_names_every_argument() -> None:
    out = dof("tools", "list").out
    assert all(f"    {name}: " in out for spec in CORE for name in spec.schema["properties"])
    assert "array of string | null" in out


def test_a_refusal_for_people_says_why_and_the_way_out() -> None:
    error = {
        "code": "unknown_tool",
        "message": "there is no tool 'x'",
        "path": "",
        "allowed": ["a", "b"],
        "hint": "h",
    }
    lines = _envelope_lines({"tool": "x", "call_id": "c1", "ok": False, "error": error}, 80)
    assert lines == ["x refused: unknown_tool: there is no tool 'x'", "  allowed: a, b", "  h"]


def test_an_envelope_for_people_is_safe_and_whole() -> None:
    envelope = {
        "tool": "search_documents",
        "ok": True,
        "returned": 1,
        "total": 1400,
        "as_of": "2026-04-24",
        "sources": {"5": {"title": "TÍTULO\x1b[2J", "issuer": "SECRETARÍA", "date": "2026-01-09", "edition": None}},
        "results": [
            {
                "publication": "5",
                "text": "uno\ndos",
                "passages": [{"chunk_id": 12, "heading": "Art. 1", "snippet": "…"}],
            }
        ],
    }
    text = "\n".join(_envelope_lines(envelope, 80))
    assert "search_documents: 1 of 1,400, published up to 2026-04-24" in text
    assert "5 SECRETARÍA, 2026-01-09: TÍTULO[2J" in text
    assert "  text:\n      uno\n      dos" in text
    assert "      chunk_id: 12" in text
    assert "\x1b" not in text
