"""Whether a trial counts: the declared gates, and what speaks against its validity.

Pure, and blind to which system was measured: the rules are those of the study and the engine,
never the size of a response.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from steelyard.engine.messages import Clock, LoadResult
from steelyard.hosts.clocks import ClockOffset, drift_ppm, drift_uncertainty_ppm
from steelyard.records.schema import Doubt, GateRecord, Measured, Outcome
from steelyard.study.model import GateSpec
from steelyard.trial.attempt.load_warnings import text_of
from steelyard.trial.attempt.outcomes import TrialFailed

_CLOCK_DRIFT_LIMIT_PPM = 100.0
_CLOCK_NOISE_NS = 1_000_000
_OF_CLOCKS = ("clock_drift", "clock_step")


def check_gates(
    gates: Mapping[str, GateSpec], responses: Mapping[str, Measured]
) -> tuple[GateRecord, ...]:
    """Each gate with what was seen; ``held`` is ``None`` when its response was not measured."""
    return tuple(_check(gate, responses.get(name)) for name, gate in gates.items())


def _check(gate: GateSpec, measured: Measured | None) -> GateRecord:
    seen = None if measured is None else measured.value
    return GateRecord(name=gate.name, limit=gate.text, seen=seen, held=_holds(gate, seen))


def _holds(gate: GateSpec, seen: float | None) -> bool | None:
    if seen is None:
        return None
    if gate.at_most is not None:
        return seen <= gate.at_most
    return gate.at_least is None or seen >= gate.at_least


def refuse_by_gates(
    records: tuple[GateRecord, ...], *errors: Mapping[str, Mapping[str, int]]
) -> None:
    """Ends the trial when a gate did not hold.

    Raises:
        TrialFailed: ``refused_by_gate``, naming the gate, the figure, and the commonest error.
    """
    for record in records:
        if record.held is False and record.seen is not None:
            raise TrialFailed(
                Outcome.REFUSED_BY_GATE,
                f"{record.name} {record.limit}: {record.seen:.4g} seen{_commonest(*errors)}",
                "look at load.json of this attempt; widen the gate only if the study allows it",
            )


def _commonest(*errors: Mapping[str, Mapping[str, int]]) -> str:
    counted = [
        (count, phase, kind)
        for of_one in errors
        for phase, kinds in of_one.items()
        for kind, count in kinds.items()
    ]
    if not counted:
        return ""
    count, phase, kind = max(counted)
    return f", mostly {kind} in phase {phase} ({count} times)"


def refuse_invalid(load: LoadResult) -> None:
    """Ends the trial when the generator does not vouch for its own figures.

    Raises:
        TrialFailed: ``invalid``, with the generator's warnings.
    """
    if load.verdict.state == "invalid":
        found = [text_of(each) for each in load.verdict.warnings if each.state == "invalid"]
        raise TrialFailed(
            Outcome.INVALID, "; ".join(found), "docs/reference/result.md explains each warning"
        )


def engine_doubts(load: LoadResult) -> list[Doubt]:
    """The generator's warnings about its own figures."""
    return [
        Doubt(state=each.state, kind=each.kind, message=text_of(each))
        for each in load.verdict.warnings
    ]


def connection_doubts(load: LoadResult) -> list[Doubt]:
    """Doubt when connections failed while no operation was on them: ``errors`` misses those."""
    failed = (
        ("before the window", load.ramp_errors),
        ("between operations", load.connection_errors),
    )
    return [
        Doubt(
            state="suspect",
            kind="connections_failed",
            message=f"{count} connections failed {when}{_commonest(errors)}",
        )
        for when, errors in failed
        if (count := sum(sum(kinds.values()) for kinds in errors.values()))
    ]


def service_doubts(load: LoadResult, counters: Mapping[str, Any]) -> list[Doubt]:
    """Doubt when the service counts fewer good answers than the generator received."""
    answered, received = counters.get("ok"), load.counts.ok + load.counts.warmup
    if not isinstance(answered, int) or answered >= received:
        return []
    message = f"the service counts {answered} good answers, the generator received {received}"
    return [Doubt(state="suspect", kind="counts_differ", message=message)]


def drift_doubts(
    machine: str, offsets: Sequence[ClockOffset], walls: Sequence[Clock]
) -> list[Doubt]:
    """Doubt when a machine's clocks ran unlike the controller's, or unlike each other."""
    doubts = [d for pair in pairwise(walls) for d in clock_doubts(*pair)]
    for before, after in pairwise(offsets):
        drift, unsure = drift_ppm(before, after), drift_uncertainty_ppm(before, after)
        if abs(drift) - unsure > _CLOCK_DRIFT_LIMIT_PPM:
            message = f"the clock of {machine} ran {drift:+.0f} ppm against the controller's"
            doubts.append(Doubt(state="suspect", kind="clock_drift", message=message))
    return doubts


def refuse_unsteady_clock(doubts: Sequence[Doubt]) -> None:
    """Ends a trial that was timed by a clock of which there is doubt.

    Raises:
        TrialFailed: ``invalid``, with what the clock did.
    """
    found = [doubt.message for doubt in doubts if doubt.kind in _OF_CLOCKS]
    if found:
        raise TrialFailed(
            Outcome.INVALID,
            f"the clock that times this trial cannot be trusted: {found[0]}",
            "write `clock: controller`, which is the default, or mend the clock of the system",
        )


def clock_doubts(before: Clock, after: Clock) -> list[Doubt]:
    """Doubt when the machine's wall clock ran unlike its monotonic one."""
    elapsed = after.monotonic_ns - before.monotonic_ns
    drift = abs(after.realtime_ns - before.realtime_ns - elapsed)
    if elapsed <= 0 or drift <= _CLOCK_NOISE_NS or drift / elapsed * 1e6 <= _CLOCK_DRIFT_LIMIT_PPM:
        return []
    message = f"the wall clock was stepped or slewed by {drift / 1e6:.1f} ms during the trial"
    return [Doubt(state="suspect", kind="clock_step", message=message)]
