"""What every test has in common."""

from __future__ import annotations

import os

from hypothesis import settings

# How long an example takes is the machine's affair: no test is timed. The same code is tried with the same examples,
# so that a change is judged by what it changed; `DOF_FUZZ=1` looks for new ones.
settings.register_profile("same", deadline=None, derandomize=True)
settings.register_profile("fuzz", deadline=None)
settings.load_profile("fuzz" if os.environ.get("DOF_FUZZ") else "same")

# pytest-xdist tells its processes the width of the terminal; what `dof` prints here goes to no terminal.
os.environ.pop("COLUMNS", None)
