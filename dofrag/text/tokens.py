"""How much a text costs to read."""

from __future__ import annotations

CHARS_PER_TOKEN = 4


def estimate_tokens(text: str) -> int:
    """Tokens of `text`, estimated as a quarter of its characters, rounded up. Needs no model's tokenizer."""
    return -(-len(text) // CHARS_PER_TOKEN)
