"""Names and descriptions in a question: what its answer is *of*, and instruments that it describes without naming.

A name (`Beca Faro`, `ZLFN`, `0402.10.99`) is an entity: no sibling will do. A description (`el decreto de los
muelles`) holds the words that the title of the publication shares, though it may say them otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from dofrag.domain.records import dataclass
from dofrag.profiles.aliases import Aliases
from dofrag.profiles.language import Language

Range = tuple[int, int]

MAX_NAMES = 12
_MAX_WORDS = 10

_WORD = re.compile(r"[^\W_]+(?:[-./][^\W_]+)*")
_CODE = re.compile(r"(?<![\w.])\d{4}\.\d{2}(?:\.\d{2}){0,2}(?![\w]|\.\d)")


@dataclass(frozen=True, slots=True)
class Name:
    """What names or describes something; `words` are its folded content words, `phrase` all of it folded."""

    start: int
    end: int
    phrase: str
    words: tuple[str, ...]


def entities(
    text: str, folded: str, taken: Iterable[Range], aliases: Aliases, language: Language
) -> tuple[Name, ...]:
    """Proper names, acronyms and tariff codes outside the stretches that other slots hold already."""
    free = blanked(text, taken)
    kinds = {w for head in (*aliases.acts, *aliases.heads) for w in head.split()}
    out: list[Name] = []
    at = 0
    while len(out) < MAX_NAMES and (first := _WORD.search(free, at)):
        at = first.end()
        if not _names(free, first):
            continue
        end = _name_end(free, folded, first.start(), first.end(), aliases, language)
        words = tuple(w for w in language.content_words(text[first.start() : end]) if w not in aliases.stop_words)
        if any(w not in kinds for w in words):  # "el Acuerdo" names nothing
            out.append(Name(first.start(), end, " ".join(folded[first.start() : end].split()), words))
        at = end
    for match in _CODE.finditer(folded):
        if not any(n.start < match.end() and match.start() < n.end for n in out):
            out.append(Name(match.start(), match.end(), match.group(), (match.group(),)))
    return tuple(sorted(out, key=lambda n: n.start)[:MAX_NAMES])


def _names(free: str, word: re.Match[str]) -> bool:
    """Whether a name begins here: a capital in the middle of a sentence, or several anywhere (`REPSE`)."""
    letters = [c for c in word.group() if c.isalpha()]
    if len(letters) >= 3 and all(c.isupper() for c in letters):
        return True
    before = free[: word.start()].rstrip(" ")
    return len(letters) > 1 and letters[0].isupper() and bool(before) and before[-1] not in "¿?¡!.:;\n\"'«("


def _name_end(free: str, folded: str, start: int, at: int, aliases: Aliases, language: Language) -> int:
    """After the last capitalised word or figure that connectors join; *y* with an article begins another name."""
    end = at
    words = list(_WORD.finditer(free, at, at + 160))[:_MAX_WORDS]
    joined = False
    begun = free[:at].rstrip()
    listed = begun[: len(begun) - len(begun.split()[-1])].rstrip().endswith(",") if begun else False
    for n, word in enumerate(words):
        gap = free[words[n - 1].end() if n else at : word.start()]
        if gap.strip() or len(gap) > 1:
            break
        token = folded[word.start() : word.end()]
        if word.group()[0].isupper() or (token.isdigit() and not joined):
            end, joined = word.end(), False
            continue
        following = folded[words[n + 1].start() : words[n + 1].end()] if n + 1 < len(words) else ""
        if token not in aliases.connectors or token in aliases.apart:
            break
        if token in language.conjunctions and (
            following in aliases.connectors or listed or folded[start:end] in aliases.places
        ):
            break  # "en Faro, Boya y Puerto Alba" names three
        joined = True
    return end


def descriptions(
    folded: str, taken: Iterable[Range], instruments: Sequence[int], aliases: Aliases, language: Language
) -> tuple[Name, ...]:
    """Instruments described by their kind and subject: `la segunda modificación a las Reglas de Boyas`, `el decreto
    que creó el faro`. Dates and other slots within are passed over; a kind alone will do where it is *of* an
    instrument that begins at one of `instruments` (`la fe de erratas de la Ley de Boyas`)."""
    free = blanked(folded, taken)
    joined = re.compile(rf"(?: (?:{'|'.join(sorted(aliases.connectors))})){{0,3}} ")
    heads = "|".join(re.escape(a) for a in sorted(aliases.acts, key=lambda a: (-len(a), a)))
    out: list[Name] = []
    pattern = rf"(?<![\w-])(?P<head>(?:{language.ordinal} )?(?:{heads}))(?![\w-])"
    for match in re.finditer(pattern, free) if heads else ():
        before = folded[max(0, match.start() - 30) : match.start()]
        if (out and match.start() < out[-1].end) or language.asked.search(before):
            continue
        end = _description_end(free, match.end(), instruments, aliases, language)
        words = language.content_words(free[match.start() : end])
        bare = language.content_words(match["head"])
        on = joined.match(folded, match.end())
        if len(words) > len(bare) or (on is not None and on.end() in instruments):
            phrase = " ".join(free[match.start() : end].split())
            figures = re.compile(language.number)
            told = tuple(w for w in dict.fromkeys(words) if not figures.fullmatch(w))
            out.append(Name(match.start(), end, phrase, told[:8]))
    return tuple(out[:MAX_NAMES])


def _description_end(free: str, at: int, instruments: Sequence[int], aliases: Aliases, language: Language) -> int:
    """After the last word that connectors join to the kind; two words in a row at most (noun and adjective)."""
    end, last, row, previous, relative = at, at, 0, "", False
    for count, word in enumerate(_WORD.finditer(free, at, at + 200)):
        gap = free[last : word.start()]
        last = word.end()
        token = word.group()
        passed = any(word.start() - len(gap) <= i < word.start() for i in instruments)
        if gap.strip() or passed or count >= 16 or token in aliases.stop_words:
            break
        if previous in language.conjunctions and token in aliases.connectors:
            break  # "el aviso de boyas y la tarifa de faros"
        if token in aliases.connectors or token in aliases.joins:
            if token == language.relative and not (previous == "" or previous in aliases.connectors):
                break  # only "el decreto que creó…", "el decreto por el que se crea…"
            relative = relative or token == language.relative
            row, previous = 0, token
            continue
        if language.infinitive.fullmatch(token) and previous:
            break
        row += 1
        if token in language.interrogatives or row > (3 if relative else 2):
            break
        end, previous = word.end(), token
    return end


def blanked(text: str, taken: Iterable[Range]) -> str:
    """A text with these stretches blank."""
    chars = list(text)
    for start, end in taken:
        for at in range(max(0, start), min(end, len(chars))):
            chars[at] = " "
    return "".join(chars)


def coordinated(found: Sequence[Name], folded: str, reach: Range, language: Language) -> tuple[Name, ...]:
    """The names of a stretch that stand side by side (`la Beca Faro y la Beca Ancla`); none, or two at least."""
    inside = [n for n in found if reach[0] <= n.start < reach[1]]
    groups: list[list[Name]] = []
    for name in inside:
        if groups and language.side.fullmatch(folded, groups[-1][-1].end, name.start):
            groups[-1].append(name)
        else:
            groups.append([name])
    several = [g for g in groups if len(g) > 1]
    return tuple(several[0]) if several else ()
