"""Where things are, from the environment. Settings stop at `wiring`: below it, parts get the values they need."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """`index` is the default index, None when there is none; `cache` is where the sample's index is kept."""

    index: Path | None
    trace_dir: Path
    cache: Path


def from_environment(environ: Mapping[str, str], cwd: Path) -> Settings:
    """`DOF_INDEX` names the default index, else `indexes/dof` under the working folder where it exists.
    `DOF_TRACE_DIR` names the folder of traces (default `traces`). The cache follows `XDG_CACHE_HOME`."""
    named = environ.get("DOF_INDEX")
    usual = cwd / "indexes" / "dof"
    index = Path(named) if named else (usual if usual.is_dir() else None)
    home = environ.get("HOME") or environ.get("USERPROFILE") or str(cwd)
    cache = Path(environ.get("XDG_CACHE_HOME") or Path(home) / ".cache") / "dofrag"
    return Settings(index=index, trace_dir=Path(environ.get("DOF_TRACE_DIR") or "traces"), cache=cache)
