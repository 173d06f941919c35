"""Seals: what a set, its corpus and the code were when the set was closed, kept beside the set and checked before it
is run.

SET/seal.json      the seal
SET/ledger.jsonl   every seal and every look (`evals.ledger`)
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from dofrag.domain.records import dataclass
from dofrag.errors import DirtyTree, SetTampered, UsageError, WrongCode
from dofrag.evals import ledger
from dofrag.evals.code import (
    PROJECT,
    Code,
    code_at,
    commit_of,
    committed_code,
    committed_text,
    head,
    repository_of,
    running_package,
    uncommitted,
)
from dofrag.evals.dataset import QuestionSet
from dofrag.store.lock import LOCK_FILE, WriterLock

SEAL = "seal.json"
SCHEMA = "dofrag.seal/1"

Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Seal:
    """`corpus_sha256` is of the set's own publications, "" where it has none; `commit` is the one that was checked
    out, and `code` its frozen trees."""

    set: str
    author: str
    utc: str
    commit: str
    code: Code
    items_sha256: str
    questions: int
    corpus_sha256: str
    corpus_files: int
    sample_sha256: str
    seal_sha256: str = ""


def folder_sha256(folder: Path | None) -> tuple[str, int]:
    """SHA-256 over the paths and bytes of all files below a folder, and how many there are; ("", 0) without one."""
    if folder is None:
        return "", 0
    digest = hashlib.sha256()
    files = sorted((p.relative_to(folder).as_posix(), p) for p in folder.rglob("*") if p.is_file())
    for rel, path in files:
        data = path.read_bytes()
        digest.update(f"{len(rel.encode())}:{rel}{len(data)}:".encode())
        digest.update(data)
    return digest.hexdigest(), len(files)


def _sha256_of(document: Mapping[str, Any]) -> str:
    text = json.dumps({k: v for k, v in document.items() if k != "seal_sha256"}, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def demand_committed_ledger(folder: Path) -> bool:
    """Whether git holds a ledger of this set. Raises SetTampered where the one on the disk does not begin with it."""
    held = committed_text(folder, ledger.LEDGER)
    if held is None:
        return False
    path = folder / ledger.LEDGER
    there = path.read_text(encoding="utf-8", errors="surrogateescape") if path.is_file() else ""
    lines = _lines(held)
    if _lines(there)[: len(lines)] != lines:
        raise SetTampered(f"{path} lacks lines that are committed", hint="restore it from git")
    return True


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.split("\n") if line.strip()]


def read_seal(folder: Path) -> Seal | None:
    """The seal beside a set, None where there is none. Raises SetTampered for one that was changed or taken away, and
    where the ledger lacks what is committed of it."""
    path = folder / SEAL
    known = demand_committed_ledger(folder)
    if not path.is_file():
        if known:
            raise SetTampered(f"{path} is missing, and its ledger is committed", hint="restore it from git")
        return None
    try:
        document: Any = json.loads(path.read_text(encoding="utf-8"))
        sound = document["seal_sha256"] == _sha256_of(document) and document.pop("schema") == SCHEMA
        seal = Seal(**document | {"code": Code(**document["code"])})
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        sound = False
    if not sound:
        raise SetTampered(f"{path} was changed since it was written", hint="restore it from git")
    return seal


def lock(chosen: QuestionSet, author: str, utc: str, sample_sha256: str) -> Seal:
    """Seal a set with the code that runs now, and write that into its ledger.

    Raises DirtyTree where code or set hold what is not committed, and UsageError outside a checkout, or once the set
    has been looked at: a new seal would hide that.
    """
    folder = chosen.path.parent
    package = running_package()
    repository = repository_of(package)
    if repository is None or not (package.parent / PROJECT).is_file():
        raise UsageError(f"{package} is not a git checkout", hint="seal a set in a checkout of the project")
    own = [folder / name for name in (SEAL, ledger.LEDGER, LOCK_FILE)]
    changed = uncommitted(repository, [package, package.parent / PROJECT, folder], besides=own)
    outside = repository_of(folder)
    if outside is not None and outside != repository:
        changed += uncommitted(outside, [folder], besides=own)
    if changed:
        raise DirtyTree(f"not committed: {', '.join(changed[:5])}", hint="commit, then seal")
    commit, code = head(repository), code_at(package)
    if code != committed_code(repository, commit):
        raise DirtyTree(f"{package} is not what commit {commit[:12]} holds", hint="remove files that git ignores")
    corpus, files = folder_sha256(chosen.corpus)
    seal = Seal(set=chosen.name, author=author, utc=utc, commit=commit, code=code, items_sha256=chosen.sha256,
                questions=len(chosen.items), corpus_sha256=corpus, corpus_files=files,
                sample_sha256=sample_sha256)  # fmt: skip
    demand_committed_ledger(folder)
    with WriterLock(folder, "dof eval lock"):
        entries = ledger.read_ledger(folder / ledger.LEDGER)
        if ledger.looks(entries):
            raise UsageError(f"{chosen.name} has been looked at: it cannot be sealed again", hint="write a new set")
        document = {"schema": SCHEMA, **asdict(seal)}
        document["seal_sha256"] = _sha256_of(document)
        text = json.dumps(document, ensure_ascii=False, indent=1, sort_keys=True) + "\n"
        (folder / SEAL).write_text(text, encoding="utf-8")
        ledger.add(folder / ledger.LEDGER, ledger.SEALED, {
            k: document[k] for k in ("utc", "author", "commit", "questions", "items_sha256", "seal_sha256")
        })  # fmt: skip
    sealed = read_seal(folder)
    assert sealed is not None
    return sealed


def check_set(chosen: QuestionSet, seal: Seal) -> list[Json]:
    """That questions, corpus, seal and ledger are what was sealed; the ledger's lines. Raises SetTampered."""
    folder = chosen.path.parent
    if chosen.sha256 != seal.items_sha256:
        raise SetTampered(f"the questions of {chosen.name} were changed since they were sealed on {seal.utc}",
                          hint=f"restore {chosen.path} from git")  # fmt: skip
    corpus, files = folder_sha256(chosen.corpus)
    if corpus != seal.corpus_sha256:
        raise SetTampered(
            f"the corpus of {chosen.name} was changed since it was sealed on {seal.utc}: "
            f"{files} files, {seal.corpus_files} were sealed",
            hint=f"restore {folder / 'corpus'} from git",
        )
    entries = ledger.read_ledger(folder / ledger.LEDGER)
    sealed = [e for e in entries if e["event"] == ledger.SEALED]
    if not sealed or sealed[-1].get("seal_sha256") != seal.seal_sha256:
        raise SetTampered(
            f"the ledger of {chosen.name} does not know this seal", hint="restore seal and ledger from git"
        )
    return entries


def runs_sealed_code(seal: Seal) -> bool:
    """Whether the package that runs now is the sealed one, by the bytes on the disk."""
    return code_at(running_package()) == seal.code


def demand_sealed_code(seal: Seal) -> None:
    """Raises DirtyTree or WrongCode where the package that runs is not the sealed one."""
    if runs_sealed_code(seal):
        return
    package = running_package()
    repository = repository_of(package)
    changed = [] if repository is None else uncommitted(repository, [package, package.parent / PROJECT])
    if changed:
        raise DirtyTree(f"not committed: {', '.join(changed[:5])}", hint="git stash, or run a clean checkout")
    raise WrongCode(
        f"the code that runs is not what was sealed at commit {seal.commit[:12]}",
        hint=f"dof eval --set … --frozen-commit {seal.commit[:12]}",
    )


def demand_commit(seal: Seal, name: str) -> tuple[Path, str]:
    """Repository and full hash of a commit whose frozen trees are the sealed ones. Raises WrongCode for another."""
    repository = repository_of(running_package())
    if repository is None:
        raise UsageError("the package that runs is not in a git checkout", hint="leave the commit out")
    commit = commit_of(repository, name)
    if committed_code(repository, commit) != seal.code:
        raise WrongCode(
            f"commit {commit[:12]} is not the code that was sealed at {seal.commit[:12]}",
            hint=f"--frozen-commit {seal.commit[:12]}",
        )
    return repository, commit
