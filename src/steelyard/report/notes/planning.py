"""Why the noise of a machine is not known before the first trial."""

from __future__ import annotations

from steelyard.judge.analyses.planning.findings import ReferenceKernelFailed, TooFewValues
from steelyard.report.figures import counted
from steelyard.report.notes.missing import missing_text
from steelyard.report.notes.registry import writes


@writes(ReferenceKernelFailed)
def _reference_kernel_failed(note: ReferenceKernelFailed) -> str:
    return missing_text(note.reason)


@writes(TooFewValues)
def _too_few_values(note: TooFewValues) -> str:
    return f"{counted(note.values, 'value')}, at least {note.needed} are needed"
