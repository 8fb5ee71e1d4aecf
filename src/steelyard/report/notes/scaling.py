"""Why a curve over the load, its peak or one of its levels is not stated."""

from __future__ import annotations

from steelyard.judge.analyses.scaling.findings import (
    FewLevels,
    FewVisitsPerLevel,
    GateRefusedLevel,
    LackOfFit,
    LevelNotMeasured,
    LittlesLawBroken,
    NoCurve,
    NoFall,
    NoPeak,
    SeveralCurves,
    SuperLinear,
)
from steelyard.report.effects import signed_effect
from steelyard.report.notes.registry import writes

_SMALL_P = 0.001


@writes(FewLevels)
def _few_levels(note: FewLevels) -> str:
    return f"a curve needs {note.needed} levels, and {note.levels} count"


@writes(FewVisitsPerLevel)
def _few_visits_per_level(note: FewVisitsPerLevel) -> str:
    return f"a curve needs {note.needed} visits of every level, and some level has {note.visits}"


@writes(LackOfFit)
def _lack_of_fit(note: LackOfFit) -> str:
    p = "< 0.001" if note.p < _SMALL_P else f"= {note.p:.3f}"
    return f"the USL curve does not describe these data (lack of fit, p {p})"


@writes(SuperLinear)
def _super_linear(note: SuperLinear) -> str:
    return (
        f"throughput grows faster than the load from {note.first_level:g} to "
        f"{note.second_level:g} ({signed_effect(note.excess_log)} above proportional)"
    )


@writes(LittlesLawBroken)
def _littles_law_broken(note: LittlesLawBroken) -> str:
    levels = ", ".join(f"{level:g}" for level in note.levels)
    return f"Little's law does not hold at {levels}: the load was not that of so many users"


@writes(NoPeak)
def _no_peak(note: NoPeak) -> str:
    return f"no peak seen up to {note.last_level:g}"


@writes(NoFall)
def _no_fall(note: NoFall) -> str:
    return (
        f"throughput is not seen to fall up to {note.last_level:g}, so a peak would rest on the "
        "curve alone"
    )


@writes(GateRefusedLevel)
def _gate_refused_level(note: GateRefusedLevel) -> str:
    why = "" if note.message is None else f" ({note.message})"
    return (
        f"{note.level:g} left out: a gate refused {note.refused} of {note.attempts} attempts{why}"
    )


@writes(LevelNotMeasured)
def _level_not_measured(note: LevelNotMeasured) -> str:
    return f"{note.level:g} left out: not measured"


@writes(NoCurve)
def _no_curve(note: NoCurve) -> str:
    return f"no curve of {note.system} was measured"


@writes(SeveralCurves)
def _several_curves(note: SeveralCurves) -> str:
    return f"{note.system} has a curve for each condition, and no single peak"
