"""Whether the answer can be trusted: five lines that every report has, the worst first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import IntEnum
from statistics import median

from steelyard.judge.analyses.steadiness.findings import Steadiness, SteadyFinding
from steelyard.judge.findings import AttemptFinding, CalibrationFinding, RunFindings
from steelyard.judge.kinds.caveats import (
    FailuresUnequal,
    GeneratorBottleneck,
    ManyFailures,
    SystemsNotSeen,
)
from steelyard.judge.kinds.verdict_notes import (
    FailedAttemptsDecide,
    GeneratorSaturated,
    InterferenceExplains,
    InterferenceUnequal,
    TooManyInvalid,
)
from steelyard.records.warnings import WarningKind
from steelyard.report import notes
from steelyard.report.figures import counted, listed, percent, quantity
from steelyard.report.notes.missing import missing_text
from steelyard.report.notes.warnings import kind_text
from steelyard.report.sentences.assumptions import OK, judged
from steelyard.report.sentences.differences import declared_line, difference_lines
from steelyard.report.view import views

_K = WarningKind
_HOST = (
    _K.STEAL,
    _K.GUEST_STEAL,
    _K.HIDDEN_WAIT,
    _K.FOREIGN_CPU,
    _K.FOREIGN_DISK,
    _K.FOREIGN_PAGING,
    _K.RETRANSMITS,
    _K.LINK_THROTTLED,
    _K.SWAPPED,
    _K.OUT_OF_MEMORY,
    _K.THROTTLED,
    _K.RAID_REBUILDING,
    _K.NOT_IDLE,
    _K.CLOCK_STEP,
    _K.CLOCK_DRIFT,
)
_GENERATOR = (
    _K.GENERATOR_NEAR_CAPACITY,
    _K.GENERATORS_APART,
    _K.GENERATOR_BOUND,
    _K.LATE,
    _K.RUN_DELAY,
    _K.RATE_NOT_REACHED,
    _K.STREAM_RATE_NOT_REACHED,
    _K.CONNECTIONS_MISSING,
)
_MOST_KINDS = 2
_MOST_SYSTEMS = 4
_IMPORTED = {
    "Steady state": "Not known: throughput over time is not imported.",
    "Host noise": "Not known: another tool measured, and did not watch its machines.",
    "Configuration": "Not known: no facts of the machines are imported.",
    "Load generator": "Not calibrated.",
}
_MANY_FAILED = 0.01


class State(IntEnum):
    """From what destroys trust to what speaks for the answer."""

    BAD = 0
    WARNING = 1
    UNKNOWN = 2
    GOOD = 3


@dataclass(frozen=True)
class TrustLine:
    """``places`` are where the page may say more, the closest first."""

    title: str
    state: State
    text: str
    places: tuple[str, ...]

    def anchor(self, known: Collection[str]) -> str | None:
        """The first that there is."""
        return next((place for place in self.places if place in known), None)


def trust_lines(run: RunFindings) -> list[TrustLine]:
    """All five, the worst first; of what was imported, at most what failed is known."""
    if run.stop.reason == "imported":
        unknown = [TrustLine(name, State.UNKNOWN, text, ()) for name, text in _IMPORTED.items()]
        return sorted([*unknown, _imported_failures(run)], key=lambda line: line.state)
    lines = [_steady_state(run), _host_noise(run), _configuration(run), _generator(run),
             _failures(run)]  # fmt: skip
    return sorted(lines, key=lambda line: line.state)


def _steady_state(run: RunFindings) -> TrustLine:
    cells = [each for view in views(run) for each in view.own.steadiness]
    state, text = _steadiness(cells, run)
    return TrustLine("Steady state", state, text, ("steady-state", "trials"))


def _steadiness(cells: Sequence[SteadyFinding], run: RunFindings) -> tuple[State, str]:
    if not cells:
        return State.UNKNOWN, "Not known: no throughput over time was recorded."
    states = Counter(each.state for each in cells)
    of = f"of {counted(len(cells), 'cell')}"
    never, later = states[Steadiness.NEVER], states[Steadiness.STEADY_LATER]
    if never:
        reasons = Counter(
            notes.text(each.reason, run.labels)
            for each in cells
            if each.state is Steadiness.NEVER and each.reason is not None
        )
        each_of = [f"{text} in {n}" if len(reasons) > 1 else text for text, n in reasons.items()]
        why = f" ({'; '.join(each_of)})" if each_of else ""
        advice = "use a longer warm-up and window."
        return State.WARNING, f"Throughput is not steady in {never} {of}{why}: {advice}"
    if later:
        longest = max(each.cut_s or 0.0 for each in cells if each.state is Steadiness.STEADY_LATER)
        steady = f"Throughput becomes steady only within the window in {later} {of}"
        return State.WARNING, f"{steady}: add {longest:.2g} s of warm-up."
    unknown = states[Steadiness.UNKNOWN]
    if unknown:
        found = next(each for each in cells if each.state is Steadiness.UNKNOWN)
        why = "" if found.reason is None else f": {notes.text(found.reason, run.labels)}"
        return State.UNKNOWN, f"Not known in {unknown} {of}{why}."
    return State.GOOD, f"Throughput is steady in all {counted(len(cells), 'cell')}."


def _host_noise(run: RunFindings) -> TrustLine:
    state, text = _noise(run)
    return TrustLine("Host noise", state, text, ("host-noise", "trials"))


def _noise(run: RunFindings) -> tuple[State, str]:
    good = [attempt for attempt in run.attempts if attempt.outcome == OK]
    noisy = [a for a in good if _warned(a, _HOST)]
    if not good:
        return State.UNKNOWN, "Not known: no trial counts."
    if not noisy:
        return State.GOOD, f"No interference in {counted(len(good), 'trial')}."
    kinds = Counter(kind for a in noisy for kind in dict.fromkeys(_warned(a, _HOST)))
    named = [f"{kind_text(kind)} ({count})" for kind, count in kinds.most_common(_MOST_KINDS)]
    more = len(kinds) - _MOST_KINDS
    rest = f" and {counted(more, 'other kind')}" if more > 0 else ""
    bad = _has_note(run, InterferenceUnequal, InterferenceExplains, TooManyInvalid)
    text = f"Interference in {_by_system(noisy, good, run)}: {', '.join(named)}{rest}."
    return (State.BAD if bad else State.WARNING), text


def _by_system(
    noisy: Sequence[AttemptFinding], good: Sequence[AttemptFinding], run: RunFindings
) -> str:
    """``8 of 27 trials of fast and 1 of 30 of durable``; of many those with most and fewest."""
    all_of, of = (Counter(a.cell.system for a in each) for each in (good, noisy))
    names = [name for name in run.systems if all_of[name]] or list(all_of)
    if len(names) > 2:
        whole = f"{len(noisy)} of {counted(len(good), 'trial')}"
        each = {name: f"{of[name]} of {all_of[name]} of {name}" for name in names}
        if len(names) <= _MOST_SYSTEMS:
            return f"{whole} ({', '.join(each.values())})"
        names = sorted(names, key=lambda name: -of[name] / all_of[name])
        return f"{whole} (most: {each[names[0]]}; fewest: {each[names[-1]]})"
    parts = [f"{of[name]} of {all_of[name]}{{}} of {name}" for name in names]
    return listed([part.format(" trials" if i == 0 else "") for i, part in enumerate(parts)])


def _configuration(run: RunFindings) -> TrustLine:
    found = difference_lines(run)
    confounders = [each for each in run.differences if each.is_confounder]
    if confounders:
        grave = any(each.subject == "accelerator" for each in confounders)
        state = State.BAD if grave else State.WARNING
    else:
        state = State.GOOD
    text = " ".join(found) if found else declared_line(run)
    unseen = _unseen(run)
    if unseen:
        state = min(state, State.UNKNOWN)
        text = f"Not known of {listed(list(unseen))}: no agent ran there. {' '.join(found)}".strip()
    return TrustLine("Configuration", state, text, ("configuration",))


def _unseen(run: RunFindings) -> tuple[str, ...]:
    """Systems on which no agent ran."""
    notes_of_all = [note for view in views(run) for note in view.own.caveats]
    return next((n.systems for n in notes_of_all if isinstance(n, SystemsNotSeen)), ())


def _generator(run: RunFindings) -> TrustLine:
    found = [each for view in views(run) for each in view.own.calibrations]
    state, text = _calibrations(found, run)
    return TrustLine("Load generator", state, text, ("load-generator", "load"))


def _calibrations(found: Sequence[CalibrationFinding], run: RunFindings) -> tuple[State, str]:
    trials = sum(each.trials for each in found)
    exceeded = sum(each.trials_exceeded for each in found)
    near = sum(each.trials_near for each in found)
    limited = [
        note
        for view in views(run)
        for note in view.own.caveats
        if isinstance(note, GeneratorBottleneck)
    ]
    saturated = _has_note(run, GeneratorSaturated)
    if limited:
        count = sum(each.trials for each in limited)
        good = counted(sum(each.good_trials for each in limited), "trial")
        return State.BAD if saturated else State.WARNING, (
            f"The generator was the bottleneck in {count} of {good}: systems look more alike "
            "there than they are."
        )
    if exceeded:
        return State.WARNING, (
            f"Calibration invalid: {exceeded} of {counted(trials, 'trial')} exceeded the measured "
            "capacity, so whether the generator was the bottleneck is not known."
        )
    if near or saturated:
        where = f"{near} of {counted(trials, 'trial')}" if near else "part of the trials"
        state = State.BAD if saturated else State.WARNING
        return state, f"The generator was near its capacity in {where}: they may measure it."
    warned = [a for a in run.attempts if a.outcome == OK and _warned(a, _GENERATOR)]
    if warned:
        kinds = Counter(kind for a in warned for kind in dict.fromkeys(_warned(a, _GENERATOR)))
        named = ", ".join(f"{kind_text(kind)} ({count})" for kind, count in kinds.most_common(2))
        of = counted(sum(a.outcome == OK for a in run.attempts), "trial")
        return State.WARNING, f"Warnings in {len(warned)} of {of}: {named}.{_late(run)}"
    known = [each.largest_ratio for each in found if each.largest_ratio is not None]
    if known:
        return State.GOOD, f"At most {percent(max(known))} of its capacity was used."
    reason = next((each.not_calibrated for each in found if each.not_calibrated), None)
    why = "" if reason is None else f": {missing_text(reason)}"
    return State.UNKNOWN, f"Not calibrated{why}."


def _late(run: RunFindings) -> str:
    """How late the generator was, where it was in most trials: high percentiles hold that."""
    good = [a for a in run.attempts if a.outcome == OK]
    late = [w for a in good for w in a.warnings if w.kind == _K.LATE]
    lags = [float(lag) for w in late if (lag := w.figures.get("lag_p99_ns")) is not None]
    if 2 * len(lags) <= len(good):
        return ""
    middle = quantity(median(lags), "ns")
    return f" The p99 of its own lag is {middle} in the median trial."


def _failures(run: RunFindings) -> TrustLine:
    failed = [a for a in run.attempts if a.outcome != OK]
    counts = [each for view in views(run) for each in view.own.failures]
    known = [each for each in counts if each.operations is not None and each.failed is not None]
    operations = sum(each.operations or 0 for each in known)
    lost = sum(each.failed or 0 for each in known)
    said = [f"{len(failed):,} of {counted(len(run.attempts), 'attempt')} failed"]
    said += [f"{lost:,} of {operations:,} operations failed"] if operations else []
    damaged = [f"{len(each.damaged)} of {each.system}" for each in run.disks if each.damaged]
    checks = sum(each.checks - each.unchecked for each in run.disks)
    said += [f"no damage in {counted(checks, 'disk check')}"] if checks and not damaged else []
    said += [f"damaged disks: {listed(damaged)}"] if damaged else []
    grave = bool(damaged) or _has_note(run, FailuresUnequal, ManyFailures, FailedAttemptsDecide)
    state = State.GOOD
    if grave or failed or lost:
        state = State.BAD if grave else State.WARNING
    return TrustLine("Failures", state, f"{listed(said[::-1])}.", ("failures", "trials"))


def _imported_failures(run: RunFindings) -> TrustLine:
    """By what the files say of operations; of trials that failed there is no file."""
    shares = {
        system: [
            value
            for view in views(run)
            for cell in view.own.cells
            if cell.response == "errors" and cell.cell.system == system
            for value in cell.values
        ]
        for system in run.systems
    }
    if not all(shares.values()):
        return TrustLine(
            "Failures", State.UNKNOWN, "Not known: no count of failures is imported.", ()
        )
    of = listed([f"{percent(median(each))} of {name}" for name, each in shares.items()])
    largest = max(value for each in shares.values() for value in each)
    state = State.BAD if largest > _MANY_FAILED else State.WARNING if largest else State.GOOD
    said = f"{of} of the operations of the median trial failed, at most {percent(largest)}"
    text = f"{said}." if largest else "No operation failed in the files that were given."
    return TrustLine("Failures", state, text, ("failures", "trials"))


def _warned(attempt: AttemptFinding, kinds: Sequence[WarningKind]) -> list[WarningKind]:
    return [warning.kind for warning in attempt.warnings if warning.kind in kinds]


def _has_note(run: RunFindings, *kinds: type) -> bool:
    """Whether something of these kinds stands beside a verdict, or bounds all of them."""
    for view in views(run):
        found = [*view.own.caveats, *(note for v in judged(view) for note in v.reasons)]
        if any(isinstance(note, kinds) for note in found):
            return True
    return False
