"""What must be read beside the influence of factors."""

from __future__ import annotations

from steelyard.judge.analyses.factors.findings import (
    FewDegreesOfFreedom,
    FewReplicates,
    NoRatio,
    ReplicatesLeftOut,
    Unreplicated,
)
from steelyard.report.figures import counted
from steelyard.report.notes.registry import writes


@writes(NoRatio)
def _no_ratio(note: NoRatio) -> str:
    why = "was not measured" if note.missing else "is zero, negative or not finite"
    return f"no ratio is defined: the value {why} in trial {note.trial}"


@writes(ReplicatesLeftOut)
def _replicates_left_out(note: ReplicatesLeftOut) -> str:
    one = note.replicates == 1
    verbs = "misses a cell and is" if one else "miss a cell and are"
    return f"{counted(note.replicates, 'replicate')} {verbs} left out: a balanced table is needed"


@writes(Unreplicated)
def _unreplicated(_: Unreplicated) -> str:
    return "one replicate has no error estimate: effects by Lenth's method are suggestive only"


@writes(FewReplicates)
def _few_replicates(note: FewReplicates) -> str:
    return f"shares of variation need {note.needed} replicates, and there are {note.replicates}"


@writes(FewDegreesOfFreedom)
def _few_degrees_of_freedom(note: FewDegreesOfFreedom) -> str:
    degrees = counted(note.degrees, "degree of freedom", "degrees of freedom")
    return f"{degrees} for the error of {note.unit}s: no effect is judged before {note.needed}"
