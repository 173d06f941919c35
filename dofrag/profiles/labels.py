"""Labels of requirements and premises for people, from the profile's messages."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from dofrag.domain.question import DateRole, Period, Source


class Labels:
    """Fills the sentences of a profile's message file."""

    def __init__(self, messages: Mapping[str, Mapping[str, str]]) -> None:
        self._label = messages["label"]
        self._path = messages["path"]
        self._premise = messages["premise"]

    def value(
        self, subject: str, frequency: str | None, zone: str | None, period: Period | None, unit: str | None
    ) -> str:
        parts = [subject or self._label["value_bare"]]
        if unit is not None and unit in self._label:
            parts.append(self._label[unit])
        if frequency:
            parts.append(self._label["frequency"].format(frequency=frequency))
        if zone:
            parts.append(zone)
        if period:
            parts.append(period_text(period))
        return ", ".join(parts)

    def date(self, role: DateRole, subject: str, period: Period | None = None) -> str:
        label = self._label[f"date_{role.value}"].format(subject=subject).rstrip(": ")
        return f"{label}, {period_text(period)}" if period else label

    def deadline(self, subject: str) -> str:
        return self._label["deadline"].format(subject=subject).rstrip(": ")

    def actor(self, subject: str) -> str:
        return self._label["actor"].format(subject=subject).rstrip(": ")

    def definition(self, term: str) -> str:
        return self._label["definition"].format(term=term)

    def item(self, noun: str, ordinal: int, of: int) -> str:
        return self._label["item"].format(noun=noun, ordinal=ordinal, of=of)

    def list(self, noun: str) -> str:
        return self._label["list"].format(noun=noun)

    def range(self, words: str, subject: str) -> str:
        return self._label["range"].format(words=words, subject=subject).rstrip(": ")

    def publication(self, subject: str) -> str:
        return self._label["publication"].format(subject=subject).rstrip(": ")

    def topic(self, subject: str) -> str:
        return self._label["topic"].format(subject=subject)

    def whether(self, subject: str) -> str:
        return self._label["whether"].format(subject=subject).rstrip(": ")

    def negated(self, label: str) -> str:
        return self._label["negated"].format(label=label)

    def provision(self, path: str) -> str:
        return self._label["provision"].format(path=self.path(path))

    def in_provision(self, label: str, path: str) -> str:
        return self._label["in_provision"].format(label=label, path=self.path(path))

    def from_source(self, label: str, source: Source) -> str:
        name = source.identifier or " ".join(source.name) or source.issuer or ""
        return self._label["from_source"].format(label=label, source=name) if name else label

    def of(self, label: str, name: str) -> str:
        return self._label["from_source"].format(label=label, source=name)

    def of_period(self, label: str, period: Period) -> str:
        return f"{label}, {period_text(period)}"

    def path(self, path: str) -> str:
        """`art:3/frac:II` → `artículo 3, fracción II`."""
        parts = []
        for segment in path.split("/"):
            kind, _, number = segment.partition(":")
            parts.append(self._path[kind].format(n=number) if kind in self._path else segment)
        return ", ".join(parts)

    def premise(self, key: str, expected: str) -> str:
        return self._premise[key].format(expected=expected)


def period_text(period: Period) -> str:
    """`2026`, `2025-12` or `2006-08-09`; `A/B` for another span."""
    if period.start == period.end:
        return period.start.isoformat()
    whole_year = (period.start.month, period.start.day, period.end.month, period.end.day) == (1, 1, 12, 31)
    if whole_year and period.start.year == period.end.year:
        return str(period.start.year)
    same_month = period.start.replace(day=1) == period.end.replace(day=1)
    if same_month and period.start.day == 1 and (period.end + timedelta(days=1)).day == 1:
        return f"{period.start:%Y-%m}"
    return f"{period.start.isoformat()}/{period.end.isoformat()}"
