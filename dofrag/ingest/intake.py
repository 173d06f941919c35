"""Taking one group of files into the store: which conversion counts, what the others are, and what collides.

A group holds the conversions of one edition, or the files of one code. Its best readable conversion is canonical; the
others are alternates. Two files of one format that give a code different texts contradict each other: one of them
fails, and the reason names both. A file that is there but cannot be read fails too, and what it said before stays:
rights that were lost, or a bad copy, take nothing away.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections import deque
from collections.abc import Iterator, Sequence

from dofrag.domain.draft import ParsedPublication
from dofrag.domain.records import dataclass
from dofrag.errors import SourceUnreadable
from dofrag.ingest.plan import Plan, PlannedFile, file_sha256, reason_of
from dofrag.ingest.workers import Job, Parsed, Parser, Workers, stream_file
from dofrag.profiles.base import GazetteProfile
from dofrag.store.sources import CodeTaken, SourceRow
from dofrag.store.writer import StoreWriter


@dataclass(slots=True)
class Tally:
    """What a command did so far."""

    parsed: int = 0
    chunks_written: int = 0
    removed: int = 0


@dataclass(frozen=True, slots=True)
class _Canonical:
    rel: str
    format: str
    kept: bool  # it was canonical before, and has not changed


class Intake:
    """`mirror`: files on record that the plan does not have are gone, and go."""

    def __init__(
        self, plan: Plan, store: StoreWriter, profile: GazetteProfile, parser: Parser, *, mirror: bool
    ) -> None:
        self._plan = plan
        self._store = store
        self._profile = profile
        self._parser = parser
        self._mirror = mirror
        self._members: dict[str, list[PlannedFile]] = {}  # of groups that were looked at and are not taken yet
        self._dirty = False  # whether the store was told that it changes
        self.tally = Tally()

    def first_job(self, group_key: str) -> Job | None:
        """What of this group can be parsed ahead: the file that is likely to be canonical."""
        stored = {row.rel: row for row in self._store.group(group_key)}
        members = self._members[group_key] = self._plan.members(group_key)
        for member in members:
            if member.error is None:
                known = stored.get(member.rel)
                unchanged = member.same and known is not None and known.status == "indexed"
                return None if unchanged else _job(member)
        return None

    def take(self, group_key: str, ahead: tuple[Job, Parsed | None] | None) -> None:
        """All of a group in one transaction. `ahead` is what was parsed of it already."""
        members = self._members.pop(group_key, None) or self._plan.members(group_key)
        if not self._dirty:  # said apart: it stays where the transaction is undone
            self._store.set_meta({"state": "dirty"})
            self._dirty = True
        with self._store.transaction():
            stored = {row.rel: row for row in self._store.group(group_key)}
            outside = [row for rel, row in stored.items() if rel not in {m.rel for m in members}]
            canonical = None
            if not self._mirror:
                kept = (row for row in outside if row.status == "indexed" and not self._is_unreadable(row.rel))
                canonical = next((_Canonical(row.rel, row.format, True) for row in kept), None)
            results = _Results(ahead, self._profile, self._parser, self.tally)
            rest: list[PlannedFile] = []
            for member in members:
                if member.error is not None:
                    self._fail(member, member.error)
                elif canonical is not None:
                    rest.append(member)
                elif self._is_indexed(member, stored):
                    canonical = _Canonical(member.rel, member.format, True)
                elif self._index(member, [*stored, member.rel], results):
                    canonical = _Canonical(member.rel, member.format, False)
            for member in rest:
                assert canonical is not None
                self._take_other(member, canonical, stored.get(member.rel), results)
            if self._mirror:
                for row in outside:
                    if self._plan.is_gone(row.rel):
                        self._store.drop_source(row.rel)
                        self.tally.removed += 1

    def _is_unreadable(self, rel: str) -> bool:
        planned = self._plan.file(rel)
        return planned is not None and planned.error is not None

    def _is_indexed(self, member: PlannedFile, stored: dict[str, SourceRow]) -> bool:
        known = stored.get(member.rel)
        return member.same and known is not None and known.status == "indexed"

    def _index(self, member: PlannedFile, replaces: list[str], results: _Results) -> bool:
        """Store a file as canonical; False when it failed or turned out to be another one's alternate."""
        sha256 = member.sha256
        try:
            sha256 = results.sha256(member)
            with self._store.attempt():
                row = _row(member, "indexed", sha256)
                self.tally.chunks_written += self._store.store_source(row, results.stream(member), replaces)
        except CodeTaken as taken:
            owner = self._store.owner(taken.code)
            if owner is not None and owner.failed and owner.source not in replaces:
                return self._index(member, [*replaces, owner.source], results)  # this one can be read
            self._settle_collision(member, taken.code, sha256, results)
            return False
        except sqlite3.DatabaseError as problem:
            if isinstance(problem, sqlite3.OperationalError) or type(problem) is sqlite3.DatabaseError:
                raise  # the disk or the store is at fault, not this file
            self._fail(member, reason_of(problem), sha256=sha256, canonical="")
            return False
        except Exception as problem:  # noqa: BLE001  # reported as the file's reason, never dropped
            at_fault = None if isinstance(problem, SourceUnreadable | OSError) else ""
            self._fail(member, reason_of(problem), sha256=sha256, canonical=at_fault)
            return False
        return True

    def _take_other(
        self, member: PlannedFile, canonical: _Canonical, known: SourceRow | None, results: _Results
    ) -> None:
        """A file beside the canonical one of its group."""
        if member.edition or member.format != canonical.format:
            self._alternate(member, canonical.rel, member.sha256 or file_sha256(member.path))
            return
        settled = known is not None and known.status == "alternate" and known.canonical == canonical.rel
        if canonical.kept and member.same and settled:
            return
        self._settle(member, canonical.rel, canonical.format, member.sha256, results)

    def _settle_collision(self, member: PlannedFile, code: str, sha256: str, results: _Results) -> None:
        owner = self._store.owner(code)
        assert owner is not None
        self._settle(member, owner.source, owner.format, sha256, results)

    def _settle(self, member: PlannedFile, rel: str, format_: str, sha256: str, results: _Results) -> None:
        """`member` gives a code that `rel` has: an alternate when it says the same, or says it in another format."""
        try:
            sha256 = results.sha256(member)
            digests = _digests(results.stream(member))
        except Exception as problem:  # noqa: BLE001  # reported as the file's reason, never dropped
            self._fail(member, reason_of(problem), sha256=sha256)
            return
        owners = {code: self._store.owner(code) for code in digests}
        alone = sorted(code for code, owner in owners.items() if owner is None or owner.source == member.rel)
        other = sorted(code for code, owner in owners.items() if owner and owner.sha256 != digests[code])
        if len(alone) == len(owners):
            self._index(member, [member.rel], results)  # of one name, but not of one code
        elif alone:
            taken = next(code for code in sorted(owners) if code not in alone)
            self._contradict(member, f"code {taken} is already taken by {rel}, code {alone[0]} is not", sha256, rel)
        elif other and format_ == member.format:
            self._contradict(member, f"code {other[0]} has another text in {member.rel} than in {rel}", sha256, rel)
        else:
            self._alternate(member, rel, sha256)

    def _alternate(self, member: PlannedFile, canonical: str, sha256: str) -> None:
        self._store.drop_publications(member.rel)
        self._store.record(_row(member, "alternate", sha256, canonical=canonical))

    def _contradict(self, member: PlannedFile, reason: str, sha256: str, rel: str) -> None:
        """A file that can be read, but says of a code something else than `rel`: nothing of it stays."""
        self._store.drop_publications(member.rel)
        self._fail(member, reason, sha256, rel)

    def _fail(self, member: PlannedFile, reason: str, sha256: str = "", canonical: str | None = None) -> None:
        """A file that cannot be read. What was read of it before stays."""
        if not self._store.holds_current(member.rel):
            self._store.drop_publications(member.rel)
        self._store.record(_row(member, "failed", sha256 or member.sha256, reason=reason, canonical=canonical))


def in_order(
    todo: Sequence[str], in_all: int, intake: Intake, workers: Workers
) -> Iterator[tuple[str, tuple[Job, Parsed | None] | None]]:
    """Groups in order, each with what was parsed ahead of it. `in_all`: bytes of all their files."""
    waiting: deque[tuple[str, Job | None]] = deque()

    def jobs() -> Iterator[Job]:
        for group_key in todo:
            job = intake.first_job(group_key)
            waiting.append((group_key, job))
            if job is not None:
                yield job

    for job, parsed in workers.results(jobs(), in_all):
        while waiting[0][1] is not job:
            yield waiting.popleft()[0], None
        yield waiting.popleft()[0], (job, parsed)
    while waiting:
        yield waiting.popleft()[0], None


class _Results:
    """Parsed files of one group: what was parsed ahead, else parsed here."""

    def __init__(
        self, ahead: tuple[Job, Parsed | None] | None, profile: GazetteProfile, parser: Parser, tally: Tally
    ) -> None:
        self._ahead = {ahead[0].rel: ahead[1]} if ahead is not None and ahead[1] is not None else {}
        self._profile = profile
        self._parser = parser
        self._tally = tally
        self._counted: set[str] = set()

    def sha256(self, member: PlannedFile) -> str:
        ahead = self._ahead.get(member.rel)
        return (ahead.sha256 if ahead is not None else member.sha256) or file_sha256(member.path)

    def stream(self, member: PlannedFile) -> Iterator[ParsedPublication]:
        if member.rel not in self._counted:
            self._counted.add(member.rel)
            self._tally.parsed += 1
        ahead = self._ahead.get(member.rel)
        return stream_file(_job(member), self._profile, self._parser) if ahead is None else ahead.stream()


def _job(member: PlannedFile) -> Job:
    return Job(member.path, member.rel, member.bytes)


def _row(
    member: PlannedFile, status: str, sha256: str, *, reason: str | None = None, canonical: str | None = None
) -> SourceRow:
    return SourceRow(
        rel=member.rel,
        format=member.format,
        bytes=member.bytes,
        mtime_ns=member.mtime_ns,
        sha256=sha256,
        status=status,
        group_key=member.group_key,
        rank=member.rank,
        reason=reason,
        canonical=canonical,
        scope=member.scope,
    )


def _digests(publications: Iterator[ParsedPublication]) -> dict[str, str]:
    """Code → SHA-256 of the text, without storing anything."""
    digests: dict[str, str] = {}
    for publication in publications:
        text = hashlib.sha256()
        for *_, chunk in publication.chunks:
            text.update(chunk.encode())
        digests[publication.header.code] = text.hexdigest()
    return digests
