"""The tables of a report as plain text cells, shared by the HTML and the Markdown form."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from steelyard.judge.analyses.steadiness.findings import Steadiness, SteadyFinding
from steelyard.judge.findings import (
    AttemptFinding,
    CalibrationFinding,
    CellFinding,
    ResponseFinding,
    RunFindings,
    VerdictFinding,
)
from steelyard.judge.validity.findings import DifferenceFinding
from steelyard.judge.visits.attempts import Key, place_of
from steelyard.plan.model import Cell
from steelyard.records.schema import FailedOperations
from steelyard.report import notes
from steelyard.report.effects import interval, signed_effect
from steelyard.report.figures import (
    Scale,
    percent,
    quantity,
    scale_for,
    significant,
    span,
)
from steelyard.report.notes.missing import missing_text
from steelyard.report.notes.warnings import bottleneck_text, failed_operations_text, warning_text
from steelyard.report.sentences.assumptions import OK, bottleneck_rows
from steelyard.report.sentences.verdict import ends_of, interval_words, when_decided
from steelyard.report.tables.response_notes import (
    BEYOND,
    NOT_MEASURED,
    missing_notes,
    partial_notes,
    undefined_notes,
)
from steelyard.report.view import NONE, Table, View
from steelyard.report.vocabulary import (
    compared_one,
    direction_of,
    met_by,
    verdict_word,
)
from steelyard.study.labels import Labels
from steelyard.study.model import Level
from steelyard.units import format_duration

NOT_APPLICABLE = "not applicable"
_MOST_CAUSES = 2


def response_table(
    view: View, response: ResponseFinding, keep: Callable[[Cell], bool] = lambda _: True
) -> Table:
    """Every cell of one response with its verdict against the baseline; missing cells say so.

    ``keep`` may leave some of them out.
    """
    own = [c for c in view.own.cells if c.response == response.name and keep(c.cell)]
    cells = {place_of(c.cell): c for c in own}
    scale = scale_for([v for c in cells.values() for v in c.values], response.unit)
    unit = f", {scale.unit}" if scale.unit else ""
    rows: list[tuple[str, ...]] = []
    judged: list[tuple[Cell, VerdictFinding | None]] = []
    missing = view.own.not_applicable
    valid = _valid_trials(view)
    for place in filter(keep, _places(view)):
        verdict = _verdict(view, response, place.system, place.conditions)
        judged.append((place, verdict))
        baseline = place.system == view.run.baseline
        rows.append(
            (
                view.run.labels.conditions(place.conditions) or "all trials",
                place.system,
                *_cell_texts(
                    cells.get(place_of(place)),
                    scale,
                    valid[place_of(place)],
                    exists=place not in missing,
                ),
                *_verdict_texts(
                    verdict, response, baseline=baseline, exists=_comparable(view, place)
                ),
            )
        )
    level = next((percent(c.interval_level) for c in cells.values()), "95 %")
    head: tuple[str, ...] = (
        "Condition", compared_one(view.run), f"Median{unit}", f"{level} interval", "Trials",
        f"Against {view.run.baseline}", "Interval", "Verdict",
    )  # fmt: skip
    labels, found = view.run.labels, list(cells.values())
    notes = (
        *missing_notes(found, labels),
        *partial_notes(((cell, valid[place_of(cell.cell)]) for cell in found), labels),
        *(() if response.primary else undefined_notes(judged, labels)),
    )
    if not view.own.conditions:
        head, rows = head[:_MEASURED], [row[:_MEASURED] for row in rows]
    return Table(response.label, head, tuple(rows), frozenset({2, 3, 4}), notes)


_MEASURED = 5


def _places(view: View) -> list[Cell]:
    """The compared cells by condition; of a study that compares nothing those that it screened."""
    compared = [
        Cell(system=system, conditions=conditions)
        for conditions in view.own.conditions
        for system in view.run.systems
    ]
    return compared or list({place_of(each.cell): each.cell for each in view.own.cells}.values())


def _valid_trials(view: View) -> Counter[tuple[str, Key]]:
    """How many trials of each cell count; of results without attempts, those with any value."""
    if view.attempts:
        return Counter(place_of(each.cell) for each in view.attempts if each.outcome == "ok")
    return Counter(
        cell for cell, _ in {(place_of(c.cell), n) for c in view.own.cells for n in c.trials}
    )


def _comparable(view: View, place: Cell) -> bool:
    """Whether a cell exists for a system and for the baseline."""
    return place.conditions in met_by(view, (place.system, view.run.baseline))


def _verdict(
    view: View, response: ResponseFinding, system: str, conditions: dict[str, Level]
) -> VerdictFinding | None:
    """The verdict of this cell; with one condition that over all of them is the same."""
    pair = (view.run.baseline, system)
    own = [
        v
        for v in view.own.verdicts
        if v.response == response.name and (v.baseline, v.other) == pair
    ]
    exact = [v for v in own if v.conditions == conditions]
    if not exact and met_by(view, pair) == [conditions]:
        exact = [v for v in own if v.conditions is None]
    return exact[0] if exact else None


def _cell_texts(
    cell: CellFinding | None, scale: Scale, valid: int, *, exists: bool
) -> tuple[str, str, str]:
    if not exists:
        return NOT_APPLICABLE, NONE, NONE
    if cell is None or cell.median is None:
        beyond = 0 if cell is None else cell.beyond
        return BEYOND if beyond else NOT_MEASURED, NONE, str(beyond)
    spread = NONE
    if cell.low is not None and cell.high is not None:
        low, high = cell.low / scale.divisor, cell.high / scale.divisor
        spread = span(significant(low), significant(high))
    count = len(cell.values)
    among = f"{count} of {valid}" if count < valid else str(count)
    return significant(cell.median / scale.divisor), spread, among


def _verdict_texts(
    verdict: VerdictFinding | None, response: ResponseFinding, *, baseline: bool, exists: bool
) -> tuple[str, str, str]:
    if baseline:
        return "baseline", NONE, NONE
    if verdict is None:
        return NONE, NONE, "not judged" if response.primary and exists else NONE
    if verdict.estimate_log is None:
        size, ends = _as_decided(verdict, response)
        if verdict.deciding_look is not None:
            ends += f", as decided at visit {verdict.decided_at_visit}"
        return size, ends, verdict_word(verdict, response)
    size = signed_effect(verdict.estimate_log, beside=ends_of(verdict))
    ends, look = interval_words(verdict, response), verdict.deciding_look
    if look is not None:
        then, by_then = _as_decided(verdict, response)
        if (look.n_baseline, look.n_other) == (verdict.n_baseline, verdict.n_other):
            of_all = f"by all looks together; by the last alone {ends}"
        else:
            of_all = f"as decided at visit {verdict.decided_at_visit}; of all {size}, {ends}"
        size, ends = then, f"{by_then}, {of_all}"
    return size, ends, verdict_word(verdict, response)


def _as_decided(verdict: VerdictFinding, response: ResponseFinding) -> tuple[str, str]:
    """Size and interval of the look that decided; nothing where that of all visits agrees."""
    then = when_decided(verdict)
    if verdict.deciding_look is None or then.estimate_log is None:
        return NONE, NONE
    size = signed_effect(then.estimate_log, beside=ends_of(then))
    return size, interval_words(then, response)


def attempt_table(run: RunFindings) -> Table:
    """Every attempt, also those that failed, with what went wrong and what to do."""
    head = ("Attempt", "Visit", compared_one(run), "Condition", "Outcome", "Bottleneck",
            "Remarks", "Time", "Overhead")  # fmt: skip
    rows = tuple(_attempt_texts(a, run.labels) for a in run.attempts)
    return Table("Every attempt, in the order of the trials", head, rows, frozenset({1, 7, 8}))


def failed_table(run: RunFindings) -> Table:
    """Only the attempts that failed."""
    head = (
        "Attempt",
        compared_one(run),
        "Condition",
        "Outcome",
        "What happened, and what to do",
    )
    rows = tuple(
        (
            _name(a),
            a.cell.system,
            run.labels.conditions(a.cell.conditions) or NONE,
            _outcome(a),
            _remarks(a),
        )
        for a in run.attempts
        if a.outcome != OK
    )
    return Table("Attempts that failed", head, rows)


def _attempt_texts(attempt: AttemptFinding, labels: Labels) -> tuple[str, ...]:
    overhead = attempt.overhead_s
    return (
        _name(attempt),
        str(attempt.visit),
        attempt.cell.system,
        labels.conditions(attempt.cell.conditions) or NONE,
        _outcome(attempt),
        NONE if attempt.bottleneck is None else bottleneck_text(attempt.bottleneck),
        _remarks(attempt),
        format_duration(attempt.wall_s),
        NONE if overhead is None else format_duration(overhead),
    )


def _name(attempt: AttemptFinding) -> str:
    return f"{attempt.trial:04d}-{attempt.attempt}"


def _outcome(attempt: AttemptFinding) -> str:
    return attempt.outcome.replace("_", " ")


def _remarks(attempt: AttemptFinding) -> str:
    said = [attempt.message or "", f"Hint: {attempt.hint}" if attempt.hint else ""]
    said += [f"Failed: {failed_operations_text(each)}" for each in _told(attempt)]
    said += [f"Warning: {warning_text(warning)}" for warning in attempt.warnings]
    return ". ".join(part for part in said if part) or NONE


def _told(attempt: AttemptFinding) -> tuple[FailedOperations, ...]:
    """How operations of a trial that counts failed; the message of another says so itself."""
    return attempt.failed_operations[:_MOST_CAUSES] if attempt.outcome == OK else ()


def bottleneck_table(view: View) -> Table:
    """The bottlenecks of the trials of each cell; empty when no trial has one."""
    found = bottleneck_rows(view)
    rows = tuple((where or "all trials", system, what) for system, where, what in found)
    head = ("Condition", compared_one(view.run), "Bottleneck, in trials")
    return Table("Bottlenecks", head, rows)


def calibration_table(view: View) -> Table:
    """What the generator can do at most in each cell, and how close the trials came."""
    head = (
        "Condition",
        compared_one(view.run),
        "Capacity",
        "Baseline latency",
        "Reached",
        "At most",
        "What that means",
    )
    rows = tuple(_calibration_texts(each, view.run.labels) for each in view.own.calibrations)
    note = (
        "Capacity is the throughput of generator and the engine's own server together on this "
        "machine, baseline latency their median response time."
    )
    return Table("Generator capacity", head, rows, frozenset({2, 3, 4, 5}), (note,))


def _calibration_texts(found: CalibrationFinding, labels: Labels) -> tuple[str, ...]:
    return (
        labels.conditions(found.cell.conditions) or "all trials",
        found.cell.system,
        NONE if found.capacity_per_s is None else quantity(found.capacity_per_s, found.unit),
        NONE if found.baseline_latency_ns is None else quantity(found.baseline_latency_ns, "ns"),
        *(NONE if r is None else percent(r) for r in (found.ratio, found.largest_ratio)),
        _calibration_words(found),
    )


def _calibration_words(found: CalibrationFinding) -> str:
    if found.not_calibrated is not None:
        return f"not calibrated: {missing_text(found.not_calibrated)}"
    if found.trials_exceeded:
        return f"calibration invalid: exceeded in {found.trials_exceeded} of {found.trials}"
    if found.disproved:
        return "calibration invalid: exceeded in trials of another cell"
    if found.trials_near:
        return f"the generator may be the bottleneck in {found.trials_near} of {found.trials}"
    return "the generator had spare capacity"


_STEADY_WORDS = {
    Steadiness.STEADY: "steady",
    Steadiness.STEADY_LATER: "steady later",
    Steadiness.NEVER: "not steady",
    Steadiness.UNKNOWN: "not known",
}


def steadiness_table(view: View) -> Table:
    """Whether throughput was steady within the windows of each cell."""
    head = ("Condition", "System", "Throughput is", "Steady after", "All against steady part",
            "Drift of it", "Trials")  # fmt: skip
    rows = tuple(_steadiness_texts(each, view.run.labels) for each in view.own.steadiness)
    note = "Throughput over the window, the mean of all trials of a cell; drift with its interval."
    return Table("Steady within the window", head, rows, frozenset({3, 4, 5, 6}), (note,))


def _steadiness_texts(found: SteadyFinding, labels: Labels) -> tuple[str, ...]:
    words = _STEADY_WORDS[found.state] + (
        f": {notes.text(found.reason, labels)}" if found.reason else ""
    )
    low, high = found.drift_low_log, found.drift_high_log
    drift = NONE if low is None or high is None else interval(low, high, estimate_log=0.0)
    return (
        labels.conditions(found.cell.conditions) or "all trials",
        found.cell.system,
        words,
        NONE if found.cut_s is None else format_duration(found.cut_s),
        NONE if found.bias_log is None else signed_effect(found.bias_log),
        drift,
        str(found.trials),
    )


def difference_table(run: RunFindings) -> Table:
    """What differs between the compared; what was not declared comes first."""
    facts = sorted(run.differences, key=lambda d: d.declared)
    rows = tuple(
        (
            d.fact,
            *(d.values.get(s) or "not reported" for s in run.systems),
            _in_the_study(d),
        )
        for d in facts
    )
    return Table("Facts that differ", ("Fact", *run.systems, "In the study"), rows)


def _in_the_study(found: DifferenceFinding) -> str:
    if found.declared:
        return "declared"
    return "not declared" if found.accepted is None else f"accepted: {found.accepted}"


def words_of_direction(response: ResponseFinding) -> str:
    """What is good for a response, for its caption."""
    more = direction_of(response).more
    return {"higher": f"{more} is better", "lower": f"{direction_of(response).less} is better"}.get(
        response.direction, "neither more nor less is better"
    )
