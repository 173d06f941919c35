"""Content words of a stretch of the question, without the slots that other fields already hold."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from dofrag.profiles.aliases import Names
from dofrag.profiles.language import Language
from dofrag.text.fold import fold, fold_chars

MAX_TERMS = 10
_MAX_LABEL = 90
_WORD = re.compile(r"[^\W_]+(?:[-./][^\W_]+)*")

Range = tuple[int, int]


class Masked:
    """The question with some stretches blanked out: dates, sources, provisions, which slots hold already."""

    def __init__(
        self,
        text: str,
        hidden: Iterable[Range],
        language: Language,
        stop_words: frozenset[str],
        acronyms: Names,
    ) -> None:
        self._text = text
        self._hidden = tuple(hidden)
        self._language = language
        self._stop = stop_words
        self._acronyms = acronyms

    def _blanked(self, start: int, end: int, more: Sequence[Range]) -> str:
        chars = list(self._text[start:end])
        for from_, to in (*self._hidden, *more):
            for at in range(max(from_, start), min(to, end)):
                chars[at - start] = " "
        return "".join(chars)

    def terms(self, start: int, end: int, more: Sequence[Range] = ()) -> tuple[str, ...]:
        """Folded content words of `[start, end)`, each once, figures apart."""
        words = self._language.content_words(self._blanked(start, end, more))
        kept = [w for w in words if w not in self._stop and not w.replace(".", "").replace(",", "").isdigit()]
        spelled = [part for w in kept for part in self._spelled_out(w)]
        return tuple(dict.fromkeys(spelled))[:MAX_TERMS]

    def _spelled_out(self, word: str) -> tuple[str, ...]:
        """The words that an acronym of an instrument stands for: its title has those."""
        alias = self._acronyms.get(word)
        return self._language.content_words(alias.name) if alias else (word,)

    def any_terms(self) -> tuple[str, ...]:
        """The words of the whole question, whatever they are; something even for a question of signs."""
        own = self._language.content_words(self._blanked(0, len(self._text), ()))
        words = own or self._language.content_words(self._text) or tuple(_WORD.findall(fold(self._text)))
        return tuple(dict.fromkeys(words))[:MAX_TERMS] or (" ".join(fold(self._text).split())[:80] or "?",)

    def phrase(self, start: int, end: int, more: Sequence[Range] = ()) -> str:
        """The same words as `terms`, as they are spelled in the question, for people."""
        wanted = set(self.terms(start, end, more))
        found = [m.group() for m in _WORD.finditer(self._blanked(start, end, more)) if fold(m.group()) in wanted]
        return " ".join(dict.fromkeys(found))[:_MAX_LABEL]

    def term_after(self, start: int, end: int) -> str:
        """The noun phrase that a definition is asked of, folded, without determiner and without the instrument that
        defines it ("la ley … los activos")."""
        folded = fold_chars(self._blanked(start, end, ()))
        cut = re.search(r"[?.;:!]", folded)
        folded = folded[: cut.start()] if cut else folded
        aside = self._language.aside.search(folded, 1)
        phrase = " ".join((folded[: aside.start()] if aside else folded).split()).strip(" ,¿")
        determiner = self._language.determiner
        parts = [p.strip(" ,") for p in determiner.split(phrase)]
        if len(parts) > 2 and not parts[0] and self._is_source(parts[1]):
            begin = list(determiner.finditer(phrase))[1].end()
            phrase = phrase[begin:]
        else:
            phrase = determiner.sub("", phrase, count=1) if determiner.match(phrase) else phrase
        words = [w for w in phrase.split() if w]
        while words and words[-1] in self._language.conjunctions:
            words.pop()  # "… una boya y" before the next part
        return " ".join(words[:12])

    def _is_source(self, part: str) -> bool:
        """A stretch of one to three words before another determiner is what defines, not what is defined."""
        return len(part.split()) <= 3
