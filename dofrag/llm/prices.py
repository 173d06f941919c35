"""What a call costs, from a dated table. A price that is not known is not guessed: the cost is None."""

from __future__ import annotations

import re
import tomllib
from datetime import date
from functools import cache
from importlib import resources
from typing import Any
from urllib.parse import urlsplit

from dofrag.domain.records import dataclass
from dofrag.llm.interface import Usage

_SNAPSHOT = re.compile(r"-\d{4}-\d{2}-\d{2}$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """US dollars a million tokens, and the day on which that was so."""

    input: float
    output: float
    as_of: date

    def of(self, usage: Usage) -> float | None:
        """The cost of a call, None when the provider did not count both sides."""
        if usage.input_tokens is None or usage.output_tokens is None:
            return None
        return (usage.input_tokens * self.input + usage.output_tokens * self.output) / 1_000_000


def price_of(model: str, base_url: str) -> Price | None:
    """The listed price of a model at an endpoint; a dated snapshot (`gpt-4o-2024-08-06`) has that of its model."""
    table = _table()
    if urlsplit(base_url).hostname != table["host"]:
        return None
    row = table["models"].get(model) or table["models"].get(_SNAPSHOT.sub("", model))
    return Price(input=row["input"], output=row["output"], as_of=table["as_of"]) if row else None


@cache
def _table() -> dict[str, Any]:
    text = resources.files("dofrag.llm").joinpath("prices.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)
