"""One cache for the sample's index, and an empty working folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(scope="package")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("evals")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        for name in ("DOF_INDEX", "DOF_TRACE_DIR"):
            patch.delenv(name, raising=False)
        patch.chdir(folder)
        yield folder
