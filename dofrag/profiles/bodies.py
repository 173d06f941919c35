"""Whom and where a question names: issuers, known or not, and zones."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dofrag.domain.records import dataclass
from dofrag.profiles.aliases import Aliases
from dofrag.profiles.named import Name
from dofrag.profiles.rules import RuleSet


@dataclass(frozen=True, slots=True)
class Spanned:
    """A slot value at `[start, end)`."""

    start: int
    end: int
    value: str


def issuers_of(text: str, folded: str, rules: RuleSet, aliases: Aliases) -> tuple[Spanned, ...]:
    out: dict[int, Spanned] = {}
    for rule in rules.of("issuer"):
        for match in rule.pattern.finditer(folded):
            alias = aliases.issuers.get(match["issuer"])
            if alias is not None and aliases.issuers.cased(text[match.start("issuer") : match.end("issuer")]):
                out[match.start("issuer")] = Spanned(*match.span("issuer"), alias.name)
    return tuple(out[at] for at in sorted(out))


def unknown_issuers(text: str, folded: str, names: Sequence[Name], rules: RuleSet) -> tuple[Spanned, ...]:
    """Bodies that no alias knows, where the question asks what they published: a name that begins with the noun of an
    institution."""
    asks = [m.span() for r in rules.of("monitors") for m in r.pattern.finditer(folded)]
    bodies = rules.of("body")
    return tuple(
        Spanned(n.start, n.end, text[n.start : n.end])
        for n in names
        if asks and len(n.words) > 1 and any(r.pattern.match(n.phrase) for r in bodies)
    )[:1]


def zones_of(text: str, folded: str, rules: RuleSet, aliases: Aliases) -> tuple[Spanned, ...]:
    zones = [Spanned(f.start, f.end, f.alias.name) for f in aliases.zones.find(folded)]
    for rule in rules.of("zone"):
        for match in rule.pattern.finditer(folded):
            at = match.start("list")
            if "cased" in rule.attributes and (
                not text[at].isupper() or any(z.start <= match.start() < z.end for z in zones)
            ):
                continue  # "la zona lacustre" describes, "la Zona Lacustre" names
            kind = " ".join(
                re.sub(r"(?:(?<=[nrd])|(?<=[^l]l))es$|(?<=[aeo])s$", "", w) for w in match["kind"].split()
            )
            for item in re.finditer(r"[a-zñ0-9]+(?=,| y |$)", match["list"]):
                start = match.start("list") + item.start()
                value = f"{kind} {text[start : start + len(item.group())]}"
                zones.append(Spanned(match.start() if not item.start() else start, start + len(item.group()), value))
    return tuple(sorted(zones, key=lambda z: z.start))
