"""Which code runs: the git tree of a package as it lies on the disk, and what a repository says of it."""

from __future__ import annotations

import hashlib
import os
import subprocess
import tarfile
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

from dofrag.domain.records import dataclass
from dofrag.errors import UsageError

PACKAGE, PROJECT = "dofrag", "pyproject.toml"
"""The frozen trees. Seals, ledgers and results lie outside them, so that writing one breaks nothing."""
_LEFT_OUT = ("__pycache__",)
_NO_CODE = ("evals/sets",)
"""Of the package: question sets that an installation brings along, data that no commit of the package holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """Git's hashes: of the tree `dofrag/`, and of `pyproject.toml` ("" where the package lies there without it)."""

    tree: str
    project: str


def running_package() -> Path:
    """The folder of the package that runs now."""
    return Path(__file__).parents[1]


def code_at(package: Path) -> Code:
    """Of a package as it lies on the disk, whatever any repository says."""
    project = package.parent / PROJECT
    return Code(tree=tree_hash(package), project=_blob(project) if project.is_file() else "")


def tree_hash(folder: Path, prefix: str = "") -> str:
    """The hash that git gives a folder with just these files; `__pycache__` is left out. "" for one without files."""
    entries: list[tuple[bytes, bytes]] = []
    with os.scandir(folder) as found:
        for entry in found:
            rel = f"{prefix}{entry.name}"
            if entry.name in _LEFT_OUT or rel in _NO_CODE or entry.name.endswith(".pyc"):
                continue
            name = os.fsencode(entry.name)
            if entry.is_dir(follow_symlinks=False):
                inner = tree_hash(Path(entry.path), f"{rel}/")
                if inner:
                    entries.append((name + b"/", b"40000 " + name + b"\0" + bytes.fromhex(inner)))
                continue
            mode = b"100755" if entry.stat().st_mode & 0o100 else b"100644"
            entries.append((name, mode + b" " + name + b"\0" + bytes.fromhex(_blob(Path(entry.path)))))
    return _object(b"tree", b"".join(row for _, row in sorted(entries))) if entries else ""


def _blob(path: Path) -> str:
    return _object(b"blob", path.read_bytes())


def _object(kind: bytes, content: bytes) -> str:
    head = kind + b" " + str(len(content)).encode() + b"\0"
    return hashlib.sha1(head + content, usedforsecurity=False).hexdigest()


def repository_of(folder: Path) -> Path | None:
    """The root of the git repository that a folder lies in, None outside of one."""
    try:
        return Path(_git(folder, "rev-parse", "--show-toplevel").strip())
    except UsageError:
        return None


def head(repository: Path) -> str:
    """The commit that is checked out."""
    return _git(repository, "rev-parse", "HEAD").strip()


def commit_of(repository: Path, name: str) -> str:
    """The whole hash of a commit by any of its names. Raises UsageError for one that there is not."""
    if name.startswith("-"):
        raise UsageError(f"{name[:60]!r} is no commit", hint="name a commit: --frozen-commit SHA")
    try:
        return _git(repository, "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}").strip()
    except UsageError:
        raise UsageError(f"there is no commit {name[:60]!r} in {repository}", hint="git log names them") from None


def committed_code(repository: Path, commit: str) -> Code:
    """The frozen trees as a commit holds them. Raises UsageError where it has none."""
    return Code(
        tree=_git(repository, "rev-parse", f"{commit}:{PACKAGE}").strip(),
        project=_git(repository, "rev-parse", f"{commit}:{PROJECT}").strip(),
    )


def committed_text(folder: Path, name: str) -> str | None:
    """A file of a folder as the commit that is checked out holds it; None where it holds none, or there is no git."""
    try:
        return _git(folder, "cat-file", "blob", f"HEAD:./{name}")
    except UsageError:
        return None


def uncommitted(repository: Path, paths: Sequence[Path], besides: Sequence[Path] = ()) -> list[str]:
    """What of `paths` differs from the commit that is checked out, new files too; without `besides`. Sorted."""
    root = repository.resolve()
    inside = [str(p.resolve().relative_to(root)) for p in paths if p.resolve().is_relative_to(root)]
    skipped = {p.resolve().relative_to(root).as_posix() for p in besides if p.resolve().is_relative_to(root)}
    if not inside:
        return []
    listed = _git(root, "status", "--porcelain", "-z", "--untracked-files=all", "--no-renames", "--", *inside)
    return sorted(row[3:] for row in listed.split("\0") if row and row[3:] not in skipped)


def export(repository: Path, commit: str, target: Path) -> None:
    """Write the frozen trees of a commit into a folder."""
    made = subprocess.run(
        ["git", "-C", str(repository), "archive", "--format=tar", commit, PACKAGE, PROJECT],
        capture_output=True,
        check=False,
    )
    if made.returncode:
        raise UsageError(f"commit {commit} cannot be unpacked: {made.stderr.decode(errors='replace')[:200].strip()}")
    with tarfile.open(fileobj=BytesIO(made.stdout)) as archive:
        archive.extractall(target, filter="data")


def _git(folder: Path, *words: str) -> str:
    """What git says. Raises UsageError where there is no git, no repository, or no such thing in it."""
    try:
        done = subprocess.run(["git", "-C", str(folder), *words], capture_output=True, check=False)
    except FileNotFoundError:
        raise UsageError("git is not installed", hint="a set is sealed and checked in a git checkout") from None
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        raise UsageError(f"git {words[0]}: {said[-1][:200] if said else 'failed'}", hint="run this in a checkout")
    return done.stdout.decode(errors="surrogateescape")
