"""The built-in sample gazette: invented publications to try the package on, and their place and version.

The data lie in `gazette/` in the gazette's path convention; `README.md` beside it lists every publication.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from dofrag.errors import CorpusError


def sample_root() -> Path:
    """The folder of the sample gazette, to be given to an index build as it is. Raises CorpusError where the package
    is not installed as files (inside a zip archive, say)."""
    from importlib import resources

    root = resources.files(__name__).joinpath("gazette")
    if not isinstance(root, Path) or not root.is_dir():
        raise CorpusError(
            f"the sample gazette is not a folder here: {root}",
            hint="install dofrag as files: `pip install --force-reinstall dofrag`",
        )
    return root


@lru_cache(maxsize=1)
def sample_version() -> str:
    """SHA-256 (hex) of the sample's relative paths and bytes: the key of an index of it that is kept. Read once a
    process, about 10 ms for some 200 KB in 120 files."""
    from hashlib import sha256

    digest = sha256()
    # Sorted by the path with `/`, so that every system hashes the same bytes.
    for rel, path in sorted(_files(os.fspath(sample_root()), "")):
        data = Path(path).read_bytes()
        # Lengths before contents: no two trees spell the same bytes.
        digest.update(f"{len(rel.encode())}:{rel}{len(data)}:".encode())
        digest.update(data)
    return digest.hexdigest()


def _files(folder: str, prefix: str) -> Iterator[tuple[str, str]]:
    """Relative and full path of every file. `os.scandir`, for `Path.rglob` takes five times as long here and this
    stands before every run on the sample."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir():
                yield from _files(entry.path, f"{prefix}{entry.name}/")
            else:
                yield prefix + entry.name, entry.path
