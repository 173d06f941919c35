"""Token counts as providers report them: believed only where they can be true."""

from __future__ import annotations

from typing import Any

from dofrag.llm.interface import Usage


def tokens(value: Any) -> int | None:
    """A count, or None for what is none: text, a fraction, a negative number."""
    return value if type(value) is int and value >= 0 else None


def credible(usage: Usage, prompt_tokens: int, max_output_tokens: int) -> Usage:
    """The usage without figures that cannot be true of this request. `prompt_tokens` is our estimate of the prompt: a
    tokenizer may differ from it several times over, not by orders; nothing comes back beyond a few times the cap."""
    low, high = prompt_tokens // 20, prompt_tokens * 20 + 2_000
    sent, got = usage.input_tokens, usage.output_tokens
    return Usage(
        sent if sent is not None and low <= sent <= high else None,
        got if got is not None and got <= max_output_tokens * 4 + 1_000 else None,
    )
