"""How much a text costs to read."""

from __future__ import annotations

CHARS_PER_TOKEN = 4


def estimate_tokens(text: str) -> int:
    """Tokens of `text`, estimated as a quarter of its characters, rounded up. Needs no model's tokenizer."""
    return -(-len(text) // CHARS_PER_TOKEN)


def one_line(text: str, limit: int) -> str:
    """At most `limit` characters on one line, with an ellipsis where it was longer."""
    flat = " ".join(text[: limit * 4].split())
    return flat if len(flat) <= limit else flat[: limit - 1] + "…"
