"""`dof coverage explain`, through the command line."""

from __future__ import annotations

import json

from click.testing import CliRunner

from dofrag.cli.coverage import coverage


def test_prints_parts_slots_rules_and_premises() -> None:
    text = "¿Qué establece el artículo 9 de la Ley de Faros publicada el 3 de mayo de 2031 y desde cuándo rige?"
    result = CliRunner().invoke(coverage, ["explain", text], catch_exceptions=False)
    assert result.exit_code == 0
    assert "q1.r1  provision: texto de artículo 9" in result.output
    assert "source.published_from: 2031-05-03" in result.output
    assert "q2.r1  date:" in result.output
    assert "rule:date-effect" in result.output or "rule:date-since" in result.output
    assert "q1.p1  premise instrument" in result.output


def test_json_is_one_document() -> None:
    result = CliRunner().invoke(
        coverage,
        ["explain", "¿Cuánto vale hoy la UMA diaria?", "--as-of", "2031-02-03", "--json"],
        catch_exceptions=False,
    )
    document = json.loads(result.output)
    assert document["as_of"] == "2031-02-03"
    assert document["asks_current"] is True
    (sub,) = document["sub_questions"]
    (requirement,) = sub["requirements"]
    assert requirement["kind"] == "value"
    assert requirement["slots"]["frequency"] == "daily"
