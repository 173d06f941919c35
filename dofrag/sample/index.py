"""The index of the sample gazette: built once into the user's cache, then opened like any other."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from dofrag.errors import CorpusError
from dofrag.ingest.interface import CHUNKER_VERSION
from dofrag.profiles.base import GazetteProfile
from dofrag.sample import sample_root, sample_version
from dofrag.search.analysis import ANALYZER
from dofrag.search.engine import SCHEMA_VERSION
from dofrag.store.schema import SCHEMA


def sample_index(
    cache: Path, profile: GazetteProfile, notice: Callable[[str], None], more: tuple[Path, str] | None = None
) -> Path:
    """The folder of the sample's index, built if this version of it is not there yet; `notice` is told so. `more` is
    a folder of publications to add to it, with a hash of them.

    Two processes that start at once both build, and the first to finish wins: neither ever sees half an index. Where
    the cache cannot be written, a folder for temporary files serves.
    """
    code = [CHUNKER_VERSION, ANALYZER, str(SCHEMA_VERSION), str(SCHEMA)]
    parts = [sample_version(), *code, profile.name, profile.version, *([more[1]] if more else [])]
    key = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
    for folder in (cache, Path(tempfile.gettempdir()) / f"dofrag-{os.getuid() if hasattr(os, 'getuid') else 'user'}"):
        target = folder / f"sample-{key}"
        if (target / "index.json").is_file():
            return target
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            part = Path(tempfile.mkdtemp(prefix=f"sample-{key}.", dir=folder))
        except OSError:
            continue  # the next folder may do
        notice(f"building the sample gazette's index in {target} (once)")
        try:
            _build([sample_root(), *([more[0]] if more else [])], part, profile)
            part.rename(target)
        except OSError:
            if not (target / "index.json").is_file():
                raise
        finally:
            shutil.rmtree(part, ignore_errors=True)
        return target
    raise CorpusError(f"the sample's index cannot be kept in {cache}", hint="set XDG_CACHE_HOME to a writable folder")


def _build(roots: list[Path], folder: Path, profile: GazetteProfile) -> None:
    from dofrag.ingest.pipeline import Ingest, build

    build(roots, folder, Ingest(profile=profile, workers=1))
