"""What the exit code says; the table of ``docs/reference/exit-codes.md``."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """Errors carry their own (``errors.py``): 2 the author's, 3 the operator's, 4 a defect."""

    DONE = 0
    TRIALS_FAILED = 1
    STUDY_IS_WRONG = 2
    OPERATOR = 3
    DEFECT = 4
    VERDICT_NOT_MET = 5
    INTERRUPTED = 130
