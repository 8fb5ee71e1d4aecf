"""Whether a trial counts: the declared gates, and what speaks against its validity.

Pure, and blind to which system was measured: the rules are those of the study and the engine,
never the size of a response.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from steelyard.engine.messages import Clock, LoadResult, LoadWarning
from steelyard.hosts.clocks import ClockOffset, drift_ppm, drift_uncertainty_ppm
from steelyard.records.schema import GateRecord, Measured, Outcome
from steelyard.records.warnings import Figures, TrialWarning, WarningKind
from steelyard.study.model import GateSpec
from steelyard.trial.attempt.failed_operations import all_failed, cause_text, failed_text
from steelyard.trial.attempt.outcomes import TrialFailed

_CLOCK_DRIFT_LIMIT_PPM = 100.0
_CLOCK_NOISE_NS = 1_000_000
_OF_CLOCKS = (WarningKind.CLOCK_DRIFT, WarningKind.CLOCK_STEP)


def check_gates(
    gates: Mapping[str, GateSpec], responses: Mapping[str, Measured]
) -> tuple[GateRecord, ...]:
    """Each gate with its value; ``held`` is ``None`` when its response was not measured."""
    return tuple(_check(gate, responses.get(name)) for name, gate in gates.items())


def _check(gate: GateSpec, measured: Measured | None) -> GateRecord:
    value = None if measured is None else measured.value
    return GateRecord(name=gate.name, limit=gate.text, value=value, held=_holds(gate, value))


def _holds(gate: GateSpec, value: float | None) -> bool | None:
    if value is None:
        return None
    if gate.at_most is not None:
        return value <= gate.at_most
    return gate.at_least is None or value >= gate.at_least


def refuse_by_gates(records: tuple[GateRecord, ...], loads: Sequence[LoadResult] = ()) -> None:
    """Ends the trial when a gate did not hold.

    Raises:
        TrialFailed: ``refused_by_gate``, naming the gate, the figure, and the commonest failure.
    """
    for record in records:
        if record.held is False and record.value is not None:
            cause = cause_text(loads)
            raise TrialFailed(
                Outcome.REFUSED_BY_GATE,
                f"{record.name} {record.limit}: {record.value:.4g} measured"
                + (f"; failed operations: {cause}" if cause else ""),
                "look at load.json of this attempt; widen the gate only if the study allows it",
            )


def _commonest(errors: Mapping[str, Mapping[str, int]]) -> Figures:
    """The error that was counted most often; nothing without any."""
    counted = [
        (count, phase, kind) for phase, kinds in errors.items() for kind, count in kinds.items()
    ]
    if not counted:
        return {}
    count, phase, kind = max(counted)
    return {"error": kind, "phase": phase, "error_count": count}


def refuse_invalid(load: LoadResult) -> None:
    """Ends the trial when the generator does not vouch for its own figures.

    Raises:
        TrialFailed: ``invalid``, with why every operation failed, or the generator's warnings.
    """
    if all_failed(load):
        hint = "look at the log of the service; `steelyard load` sends the same by hand"
        raise TrialFailed(Outcome.INVALID, failed_text(load), hint)
    if load.verdict.state == "invalid":
        found = [_brief(each) for each in generator_warnings(load) if each.state == "invalid"]
        raise TrialFailed(
            Outcome.INVALID,
            f"the generator's figures are not valid: {'; '.join(found)}",
            "docs/reference/result.md explains each warning",
        )


def _brief(warning: TrialWarning) -> str:
    """A kind and its figures as they are named, for an error message."""
    figures = ", ".join(f"{name} {value}" for name, value in warning.figures.items())
    return f"{warning.kind} ({figures})" if figures else warning.kind


def generator_warnings(load: LoadResult) -> list[TrialWarning]:
    """The generator's warnings about its own figures."""
    return [
        TrialWarning(state=each.state, kind=each.kind, figures=generator_figures(each))
        for each in load.verdict.warnings
    ]


def generator_figures(warning: LoadWarning) -> Figures:
    """Its figures, and the part of a mix and the generator of several that it concerns."""
    of: Figures = {} if warning.part is None else {"part": warning.part}
    of |= {} if warning.generator is None else {"generator": warning.generator}
    return {**of, **warning.figures}


def connection_warnings(load: LoadResult) -> list[TrialWarning]:
    """That connections failed while no operation was on them: ``errors`` misses those."""
    failed = (
        ("before_window", load.ramp_errors),
        ("between_operations", load.connection_errors),
    )
    return [
        TrialWarning(
            kind=WarningKind.CONNECTIONS_FAILED,
            figures={"connections": count, "when": when, **_commonest(errors)},
        )
        for when, errors in failed
        if (count := sum(sum(kinds.values()) for kinds in errors.values()))
    ]


def service_warnings(load: LoadResult, counters: Mapping[str, object]) -> list[TrialWarning]:
    """That the service counts fewer good answers than the generator received."""
    answered, received = counters.get("ok"), load.counts.ok + load.counts.warmup
    if not isinstance(answered, int) or answered >= received:
        return []
    figures: Figures = {"answered": answered, "received": received}
    return [TrialWarning(kind=WarningKind.COUNTS_DIFFER, figures=figures)]


def drift_warnings(machine: str, offsets: Sequence[ClockOffset]) -> list[TrialWarning]:
    """That a machine's monotonic clock ran unlike the controller's."""
    warnings = []
    for before, after in pairwise(offsets):
        drift, unsure = drift_ppm(before, after), drift_uncertainty_ppm(before, after)
        if abs(drift) - unsure > _CLOCK_DRIFT_LIMIT_PPM:
            figures: Figures = {"machine": machine, "drift_ppm": drift}
            warnings.append(TrialWarning(kind=WarningKind.CLOCK_DRIFT, figures=figures))
    return warnings


def refuse_unsteady_clock(warnings: Sequence[TrialWarning]) -> None:
    """Ends a trial that was timed by a clock that drifted or was stepped.

    Raises:
        TrialFailed: ``invalid``, with what the clock did.
    """
    found = [_brief(each) for each in warnings if each.kind in _OF_CLOCKS]
    if found:
        raise TrialFailed(
            Outcome.INVALID,
            f"the clock that times this trial cannot be trusted: {found[0]}",
            "write `clock: controller`, which is the default, or fix the clock of the system",
        )


def step_warnings(machine: str, before: Clock, after: Clock) -> list[TrialWarning]:
    """That a machine's wall clock ran unlike its monotonic one: forward, or back (negative)."""
    elapsed_ns = after.monotonic_ns - before.monotonic_ns
    step_ns = after.realtime_ns - before.realtime_ns - elapsed_ns
    most_ns = max(_CLOCK_NOISE_NS, elapsed_ns * _CLOCK_DRIFT_LIMIT_PPM / 1e6)
    if elapsed_ns <= 0 or abs(step_ns) <= most_ns:
        return []
    figures: Figures = {"machine": machine, "step_ns": step_ns}
    return [TrialWarning(kind=WarningKind.CLOCK_STEP, figures=figures)]
