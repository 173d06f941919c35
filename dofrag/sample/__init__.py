"""The built-in sample gazette: invented publications to try the package on, and their place and version.

The data lie in `gazette/` in the gazette's path convention; `README.md` beside it lists every publication.
"""

from __future__ import annotations

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
    process; about 200 KB."""
    from hashlib import sha256

    root = sample_root()
    digest = sha256()
    # Sorted by the path with `/`, so that every system hashes the same bytes.
    for rel, path in sorted((p.relative_to(root).as_posix(), p) for p in root.rglob("*") if p.is_file()):
        data = path.read_bytes()
        # Lengths before contents: no two trees spell the same bytes.
        digest.update(f"{len(rel.encode())}:{rel}{len(data)}:".encode())
        digest.update(data)
    return digest.hexdigest()
