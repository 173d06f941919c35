"""A look at a sealed set: allowed or refused before anything runs, and written into the set's ledger.

DIR/ledger.jsonl of a campaign is the ledger as it stood when the campaign began, its own look included, and once it
is done as it stood then: the report prints it, and says by it whether the campaign is a locked result. The ledger
beside the set, where it is found, has the last word.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from dofrag.domain.records import dataclass
from dofrag.errors import SetTampered, UsageError
from dofrag.evals import ledger
from dofrag.evals.code import Code, code_at, running_package
from dofrag.evals.dataset import QuestionSet
from dofrag.evals.records import SPEC, expected_episodes, read_records
from dofrag.evals.seal import Seal, check_set, demand_committed_ledger, demand_sealed_code, read_seal
from dofrag.store.lock import WriterLock

Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What is looked at with which code. `frozen`: the code that runs is the sealed code."""

    folder: Path
    seal: Seal
    code: Code
    frozen: bool

    def row(self) -> Json:
        """What a campaign's specification keeps of it."""
        return {
            "seal_sha256": self.seal.seal_sha256,
            "sealed": self.seal.utc,
            "author": self.seal.author,
            "commit": self.seal.commit if self.frozen else None,
            "tree": self.code.tree,
            "sealed_code": self.frozen,
        }

    def enter(self, campaign: Path, spec: Mapping[str, Any], utc: str) -> None:
        """Write this look into the ledger, unless the campaign is there already and only goes on; and keep the ledger
        as it is now with the campaign."""
        path, kept = self.folder / ledger.LEDGER, campaign / ledger.LEDGER
        name = campaign_id(campaign)
        with WriterLock(self.folder, "dof eval"):
            entries = ledger.read_ledger(path)
            if any(e.get("campaign") == name for e in entries):
                if _finished(entries, name) and len(read_records(campaign)) < expected_episodes(spec):
                    raise SetTampered(f"{campaign} was finished, and its episodes are gone", hint="restore them")
                if kept.is_file():
                    return
            else:
                ledger.add(path, ledger.LOOK, {
                    "utc": utc,
                    "look": len(ledger.looks(entries)) + 1,
                    "campaign": name,
                    "sealed_code": self.frozen,
                    "commit": self.seal.commit if self.frozen else None,
                    "tree": self.code.tree,
                    "seal_sha256": self.seal.seal_sha256,
                    "variants": [v["name"] for v in spec["variants"]],
                    "predictions_sha256": spec.get("predictions_sha256"),
                })  # fmt: skip
            shutil.copyfile(path, kept)

    def finish(self, campaign: Path, episodes_sha256: str) -> None:
        """Write the hash of the campaign's records into the ledger, once, and keep the ledger up to there with the
        campaign. Raises SetTampered where it has another."""
        path, name = self.folder / ledger.LEDGER, campaign_id(campaign)
        with WriterLock(self.folder, "dof eval"):
            entries = ledger.read_ledger(path)
            done = _finished(entries, name)
            if done is None:
                number = next(e["look"] for e in entries if e.get("campaign") == name)
                ledger.add(path, ledger.FINISHED, {
                    "utc": datetime.now(UTC).isoformat(timespec="seconds"), "look": number, "campaign": name,
                    "episodes_sha256": episodes_sha256,
                })  # fmt: skip
            elif done["episodes_sha256"] != episodes_sha256:
                raise SetTampered(f"the episodes of {campaign} are not those that it was finished with",
                                  hint="restore them")  # fmt: skip
            ledger.keep(campaign / ledger.LEDGER, _until_finished(ledger.read_ledger(path), name))


def _finished(entries: Sequence[Json], campaign: str) -> Json | None:
    return next((e for e in entries if e["event"] == ledger.FINISHED and e.get("campaign") == campaign), None)


def _until_finished(entries: list[Json], campaign: str) -> list[Json]:
    return entries[: next(n for n, e in enumerate(entries, 1) if e is _finished(entries, campaign))]


def looked_at(chosen: QuestionSet, frozen: bool, other_index: bool) -> Look | None:
    """The look that a campaign would be; None for a set that is not sealed.

    Raises SetTampered for a set that is not as it was sealed, DirtyTree or WrongCode where the sealed code was
    demanded and other code runs, and UsageError for a first look without that demand: it would use the set up.
    """
    seal = read_seal(chosen.path.parent)
    if seal is None:
        if chosen.sealed:
            raise UsageError(
                f"the set {chosen.name} is not sealed: a run would use it up", hint=_SEAL.format(chosen.name)
            )
        if frozen:
            raise UsageError(f"the set {chosen.name} is not sealed", hint=_SEAL.format(chosen.name))
        return None
    if other_index:
        raise UsageError(f"{chosen.name} is sealed together with its corpus", hint="leave --index out")
    entries = check_set(chosen, seal)
    code = code_at(running_package())
    if frozen:
        demand_sealed_code(seal)
    elif not ledger.looks(entries):
        raise UsageError(
            f"{chosen.name} has not been looked at yet: without --frozen-commit the first look would not count",
            hint="dof eval --set … --frozen-commit",
        )
    return Look(folder=chosen.path.parent, seal=seal, code=code, frozen=code == seal.code)


_SEAL = "dof eval lock {} --author NAME"


def campaign_id(campaign: Path) -> str:
    """The hash of a campaign's specification as it was written: its moment is in it, so that no two are the same."""
    return hashlib.sha256((campaign / SPEC).read_bytes()).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """The ledger that a campaign kept, whether it is a locked result, what it is to be called, and `fault`: why its
    records cannot be taken for those of its look, "" where they are."""

    entries: list[Json]
    locked: bool
    said: str
    fault: str = ""


def standing_of(campaign: Path, spec: Mapping[str, Any], episodes_sha256: str) -> Standing | None:
    """Of a campaign with these records; None for a set that was not sealed. Raises SetTampered for a ledger that was
    changed."""
    if spec.get("lock") is None:
        return None
    entries = ledger.read_ledger(campaign / ledger.LEDGER)
    if not entries:
        raise SetTampered(f"{campaign / ledger.LEDGER} is missing", hint="restore the campaign's folder")
    name = campaign_id(campaign)
    locked, said = ledger.standing(entries, name)
    fault = _fault_of(name, entries, _set_ledger(campaign, spec), episodes_sha256)
    if fault:
        return Standing(entries=entries, locked=False, said=f"no locked result: {fault}", fault=fault)
    return Standing(entries=entries, locked=locked, said=said)


def _fault_of(name: str, kept: list[Json], of_set: list[Json], episodes_sha256: str) -> str:
    if of_set and of_set[: len(kept)] != kept:
        return "the ledger that it kept is not that of the set"
    ends = [end for entries in (kept, of_set) if (end := _finished(entries, name)) is not None]
    if not ends:
        return "no ledger says that this look ended, and with which records"
    if any(end.get("episodes_sha256") != episodes_sha256 for end in ends):
        return "the records are not those of the look"
    return ""


def _set_ledger(campaign: Path, spec: Mapping[str, Any]) -> list[Json]:
    """The lines of the ledger beside the campaign's set, in the checkout that the campaign lies in, that of the
    running package or the working folder; none where no ledger there knows its seal. Raises SetTampered where one
    lacks what is committed of it."""
    seal, name = spec["lock"].get("seal_sha256"), str(spec.get("set_id"))
    if Path(name).name != name:
        return []
    for root in (*campaign.resolve().parents, running_package().parent, Path.cwd()):
        folder = root / "eval" / name
        if not folder.is_dir():
            continue
        demand_committed_ledger(folder)
        entries = ledger.read_ledger(folder / ledger.LEDGER)
        if any(e.get("seal_sha256") == seal for e in entries):
            return entries
    return []
