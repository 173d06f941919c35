"""Which groups of files there is something to do about."""

from __future__ import annotations

import sqlite3

from dofrag.ingest.plan import Plan, reason_of
from dofrag.ingest.workers import Job, Parser, stream_file
from dofrag.profiles.base import GazetteProfile


def mark_work(
    plan: Plan, store: sqlite3.Connection | None, profile: GazetteProfile, parser: Parser, *, mirror: bool
) -> None:
    """Mark the groups with files that are new or changed, or (`mirror`) gone from the plan but still on record.

    Files that failed are tried again; where they fail as before and nothing else has changed, nothing is marked, so
    that an unchanged folder leaves the index as it is.
    """
    for rel, group_key, same in plan.all_files():
        if not same:
            plan.mark(group_key, _first(plan, group_key, rel), "changed")
    if store is None:
        return
    if mirror:
        for rel, group_key in store.execute("SELECT rel, group_key FROM sources ORDER BY rel"):
            if plan.is_gone(rel):
                plan.mark(group_key, _first(plan, group_key, ""), "gone")
    _mark_alternates(plan, store, mirror)
    _mark_failed(plan, store)
    if plan.todo("changed") or plan.todo("gone"):
        return
    for group_key in plan.todo("collision"):
        plan.unmark(group_key)
    for group_key in plan.todo("retry"):
        if _fails_as_before(plan, store, group_key, profile, parser):
            plan.unmark(group_key)


def _first(plan: Plan, group_key: str, otherwise: str) -> str:
    """What a group is ordered by. Groups of which nothing is left come first ("")."""
    first = plan.first_of(group_key)
    return otherwise if first is None else first


def _mark_alternates(plan: Plan, store: sqlite3.Connection, mirror: bool) -> None:
    """Alternates of a file that is gone or has changed may have to stand for themselves."""
    for rel, canonical in store.execute("SELECT rel, canonical FROM sources WHERE status = 'alternate' ORDER BY rel"):
        file, other = plan.file(rel), plan.file(canonical)
        if file is not None and (not other.same if other is not None else mirror):
            plan.mark(file.group_key, _first(plan, file.group_key, rel), "changed")


def _mark_failed(plan: Plan, store: sqlite3.Connection) -> None:
    for rel, canonical in store.execute("SELECT rel, canonical FROM sources WHERE status = 'failed' ORDER BY rel"):
        file = plan.file(rel)
        if file is not None:
            why = "retry" if canonical is None else "collision"
            plan.mark(file.group_key, _first(plan, file.group_key, rel), why)


def _fails_as_before(
    plan: Plan, store: sqlite3.Connection, group_key: str, profile: GazetteProfile, parser: Parser
) -> bool:
    reasons = dict(
        store.execute("SELECT rel, reason FROM sources WHERE group_key = ? AND status = 'failed'", [group_key])
    )
    for member in plan.members(group_key):
        if member.rel not in reasons or member.error is not None:
            continue  # an error of identification was compared when the plan was made
        try:
            for publication in stream_file(Job(member.path, member.rel, member.bytes), profile, parser):
                for _ in publication.chunks:
                    pass
        except Exception as problem:  # noqa: BLE001  # compared with the reason on record
            if reason_of(problem) != reasons[member.rel]:
                return False
        else:
            return False
    return True
