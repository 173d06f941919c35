"""What every test has in common."""

from __future__ import annotations

import os

from hypothesis import settings

# How long an example takes is the machine's affair: no test is timed.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

# pytest-xdist tells its processes the width of the terminal; what `dof` prints here goes to no terminal.
os.environ.pop("COLUMNS", None)
