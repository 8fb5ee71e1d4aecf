"""How far the windows of several generators may lie apart, and what that means for a trial. Pure.

Each starts by its own clock at a moment that the controller told it. What the controller did not
know of that clock, and what the clock did until the load was over, moves its window.
"""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.hosts.clocks import ClockOffset
from steelyard.records.schema import GeneratorRecord, Outcome
from steelyard.records.warnings import Figures, TrialWarning, WarningKind
from steelyard.trial.attempt.gates import drift_warnings
from steelyard.trial.attempt.outcomes import TrialFailed

SUSPECT_SHARE, INVALID_SHARE = 0.01, 0.1
"""Of the window: of so much of it not all generators may have driven the load."""


def window_error_ns(before: ClockOffset, after: ClockOffset) -> int:
    """How far from the common window that of one generator may lie, at its start or its end.

    As long as its clock drifted in one direction meanwhile.
    """
    moved_ns = abs(after.offset_ns - before.offset_ns) + after.uncertainty_ns
    return max(before.uncertainty_ns, moved_ns)


def windows_apart_ns(generators: Sequence[GeneratorRecord]) -> int:
    """How far the windows of any two may lie apart."""
    errors = sorted(each.window_error_ns for each in generators)
    return sum(errors[-2:]) if len(errors) > 1 else 0


def generator_clock_warnings(
    generators: Sequence[GeneratorRecord], window_ns: int
) -> list[TrialWarning]:
    """That a clock drifted, and that windows may lie too far apart; each names the generator."""
    warnings = []
    for each in generators:
        offsets = [ClockOffset(c.offset_ns, c.uncertainty_ns, c.at_ns or 0) for c in each.clocks]
        machine = f"generator {each.generator} ({each.machine})"
        warnings += drift_warnings(machine, offsets)
    apart_ns = windows_apart_ns(generators)
    if apart_ns > SUSPECT_SHARE * window_ns:
        worst = max(generators, key=lambda each: each.window_error_ns)
        figures: Figures = {
            "generator": worst.generator,
            "machine": worst.machine,
            "apart_ns": apart_ns,
            "window_ns": window_ns,
        }
        state = "invalid" if apart_ns > INVALID_SHARE * window_ns else "suspect"
        kind = WarningKind.GENERATORS_APART
        warnings.append(TrialWarning(kind=kind, state=state, figures=figures))
    return warnings


def refuse_windows_apart(warnings: Sequence[TrialWarning]) -> None:
    """Ends a trial whose generators may not have driven the load together.

    Raises:
        TrialFailed: ``invalid``, with the generator whose clock is the worst.
    """
    for each in warnings:
        if each.kind is WarningKind.GENERATORS_APART and each.state == "invalid":
            figures = each.figures
            raise TrialFailed(
                Outcome.INVALID,
                f"the windows of the generators may lie {figures['apart_ns']} ns apart, of "
                f"{figures['window_ns']} ns; the clock of generator {figures['generator']} "
                f"({figures['machine']}) is the least known",
                "look whether it was suspended, and at the way there; a longer window bears more",
            )
