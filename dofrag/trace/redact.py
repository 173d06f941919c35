"""What must never stand in a trace: strings that look like keys or bearer tokens, wherever they come from.

The patterns start at a fixed literal and go on over one class of characters, so they take linear time.
"""

from __future__ import annotations

import re

REDACTED = "[redacted]"
SHORTEST = 15
"""Characters that anything which is replaced has at least: `authorization:x`."""

_SECRETS = re.compile(
    r"""
      \b(?:sk|pk|rk)[-_][A-Za-z0-9_-]{16,}                      # OpenAI, Anthropic, Stripe and the like
    | \b(?:ghp|gho|ghu|ghs|ghr|hf|glpat|xai|gsk|github_pat)[-_][A-Za-z0-9_-]{16,}
    | \bxox[abeoprs]-[A-Za-z0-9-]{10,}                          # Slack
    | \b(?:AKIA|ASIA)[A-Z0-9]{16}\b                             # AWS
    | \bAIza[A-Za-z0-9_-]{30,}                                  # Google
    | \beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?  # JSON web token
    | (?i:\bbearer[ \t]{1,8})[A-Za-z0-9._~+/=-]{16,}
    | (?i:\bauthorization["']?[ \t]{0,8}[:=][ \t]{0,8})\S[^\r\n]{0,4096}
    | (?i:\b(?:x-)?(?:api|access|secret)[-_ ]?(?:key|token)["']?[ \t]{0,8}[:=][ \t]{0,8})\S{8,}
    """,
    re.VERBOSE,
)
_HINTS = (
    *(f"{kind}{sign}" for kind in ("sk", "pk", "rk", "ghp", "gho", "ghu", "ghs", "ghr", "hf", "glpat", "xai",
                                   "github_pat") for sign in "-_"),
    "xox", "akia", "asia", "aiza", "eyj", "bearer", "authorization", "key", "token",
)  # fmt: skip
"""Strings of which one stands in every match, folded: looking for them takes a fraction of what the pattern takes."""
_SECRET_NAMES = re.compile(
    r"(?:proxy-)?authorization|(?:x-)?(?:api|access|secret)[-_]?(?:key|token)|password|(?:set-)?cookie", re.IGNORECASE
)


def redact(text: str) -> str:
    """The text with everything that looks like a secret replaced by REDACTED."""
    folded = text.casefold()
    return _SECRETS.sub(REDACTED, text) if any(hint in folded for hint in _HINTS) else text


def masks(text: str, chars: int) -> bool:
    """Whether a text with REDACTED in it can be what is left of one of so many characters: a secret has some."""
    hidden = text.count(REDACTED)
    return hidden > 0 and chars - (len(text) - hidden * len(REDACTED)) >= hidden * SHORTEST


def names_secret(key: str) -> bool:
    """Whether a field of this name holds a secret whatever its value looks like."""
    return _SECRET_NAMES.fullmatch(key) is not None
