"""The JSON Schema of a question set's lines, and whether a line fits it."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

SCHEMA_FILE = Path(__file__).with_name("item.schema.json")


@cache
def _validator() -> Any:
    from jsonschema import Draft202012Validator

    return Draft202012Validator(json.loads(SCHEMA_FILE.read_text(encoding="utf-8")))


def fault_of(document: Any) -> str | None:
    """The first thing that keeps a line from being an item, as "where: what"; None where it fits."""
    errors = sorted(_validator().iter_errors(document), key=lambda e: (len(e.absolute_path), str(e.message)))
    if not errors:
        return None
    where = "/".join(str(part) for part in errors[0].absolute_path) or "item"
    return f"{where}: {errors[0].message[:200]}"
