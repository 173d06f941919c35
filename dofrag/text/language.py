"""Which of the two languages that people ask in a text is in."""

from __future__ import annotations

import re

# Words that only one of the two languages has; a question in neither is answered in the gazette's language.
_WORD = re.compile(r"[^\W\d_]+")
_ENGLISH = frozenset(_WORD.findall("the of what which who when where how is are were does did and for by on"))
_SPANISH = frozenset(
    _WORD.findall("el la los las del que qué cuál cuáles quién cuándo dónde cómo es son fue en y por para un una")
)


def language_of(question: str) -> str:
    """`es` or `en`: the language whose function words the question uses more; `es` when in doubt."""
    words = [w.lower() for w in _WORD.findall(question)]
    english = sum(w in _ENGLISH for w in words)
    return "en" if english > sum(w in _SPANISH for w in words) else "es"
