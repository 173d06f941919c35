"""The process of `dof`, and of `python -m dofrag`: ends quietly on Ctrl-C, from its first import to its last line."""

from __future__ import annotations

import signal

INTERRUPTED = 130
"""As `domain.run.INTERRUPTED_EXIT`, which would have to be imported first."""


def main() -> None:
    """Run the command line. Never returns: raises SystemExit with the exit code."""
    try:
        from dofrag.cli.main import main as run
    except KeyboardInterrupt:
        raise SystemExit(INTERRUPTED) from None
    try:
        run()
    except SystemExit as end:
        if end.code == INTERRUPTED:  # all is said and written: another Ctrl-C has nothing to stop
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        raise


if __name__ == "__main__":
    main()
