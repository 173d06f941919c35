"""Every error that this package raises on purpose.

    DofError                 message, way out, exit code
    ├── UsageError           wrong words or missing input (exit 2)
    ├── CorpusError          store and index
    │   ├── StoreMissing     a named index is not there (exit 2)
    │   ├── IndexMismatch    built by another version, half built or damaged (exit 2)
    │   │   └── NewerIndex   built by a newer version: never touched (exit 2)
    │   ├── StoreBusy        another process is writing (exit 1)
    │   └── SourceUnreadable one file could not be read; carries its reason (exit 1)
    ├── Interrupted          Ctrl-C where work is kept for the next time (exit 130)
    ├── EvalError            a campaign whose records are damaged or do not add up (exit 1)
    │   └── FreezeError      a sealed set cannot be run as it was sealed (exit 6)
    │       ├── DirtyTree        code or set hold what was not committed
    │       ├── WrongCode        the code that runs is not the sealed code
    │       └── SetTampered      questions, their corpus, seal or ledger were changed
    ├── TraceError           a trace that cannot be read or does not verify (exit 1)
    └── PlannerError         a planner that cannot go on
        ├── ModelUnavailable     the endpoint does not answer, or refuses
        │   └── CreditExhausted  waiting does not help: a batch ends here
        └── MalformedStep        a step that cannot be used

An error message names the thing, the value and the way out. `hint` is the way out: a command to run or
an option to change. Bugs are not DofErrors: they keep their traceback.
"""

from __future__ import annotations


class DofError(Exception):
    """Base of all deliberate errors. `code` is stable and printed with `--json`; `exit_code` ends the process."""

    code = "error"
    exit_code = 1

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(DofError):
    """The call's words are off, or something it names does not exist."""

    code = "usage"
    exit_code = 2


class Interrupted(DofError):
    """The user stopped a long work; the message says what was kept and the hint how it goes on."""

    code = "interrupted"
    exit_code = 130


class CorpusError(DofError):
    """The store or the index cannot serve."""

    code = "corpus"


class StoreMissing(CorpusError):
    """A named index does not exist."""

    code = "store_missing"
    exit_code = 2


class IndexMismatch(CorpusError):
    """The index was built by other code or from another corpus than the store beside it, or is damaged."""

    code = "index_mismatch"
    exit_code = 2


class NewerIndex(IndexMismatch):
    """Newer code wrote the index. It may be sound, so that nothing here repairs or replaces it."""


class StoreBusy(CorpusError):
    """Another process holds the writer's lock."""

    code = "store_busy"


class SourceUnreadable(CorpusError):
    """One source file could not be read. Reported with its reason; stops nothing unless `--strict`."""

    code = "source_unreadable"


class EvalError(DofError):
    """Records of a campaign that are damaged, or do not add up."""

    code = "eval"


class FreezeError(EvalError):
    """A sealed set, or the code that it is to be run with, is not as it was sealed. Nothing was run."""

    code = "freeze"
    exit_code = 6


class DirtyTree(FreezeError):
    """The frozen trees hold changes that no commit holds."""

    code = "dirty_tree"


class WrongCode(FreezeError):
    """The code that runs is not the code that was sealed."""

    code = "wrong_code"


class SetTampered(FreezeError):
    """Questions, corpus, seal or ledger are not what was sealed."""

    code = "tampered"


class TraceError(DofError):
    """A trace that is missing, malformed or does not verify."""

    code = "trace"


class PlannerError(DofError):
    """A planner that cannot take its next step."""

    code = "planner"


class ModelUnavailable(PlannerError):
    """The model's endpoint does not answer."""

    code = "model_unavailable"


class CreditExhausted(ModelUnavailable):
    """The account has no credit left. Every further call would fail: it ends a batch, where a rate limit does not."""

    code = "credit_exhausted"


class MalformedStep(PlannerError):
    """A planner returned something that is not a step."""

    code = "malformed_step"
