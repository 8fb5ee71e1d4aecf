"""How a run stands, for a page and for programs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from markupsafe import Markup

from steelyard.inference.sequential import VerdictWord
from steelyard.judge.findings import ResponseFinding
from steelyard.records.events import InterimComparison
from steelyard.report.effects import interval, signed_effect
from steelyard.report.figures import counted, percent, quantity, scale_for
from steelyard.report.notes.warnings import kind_text
from steelyard.report.sentences.terminal.interim import left_words
from steelyard.report.vocabulary import said_word
from steelyard.study.workload_study import studies
from steelyard.units import format_duration
from steelyard.web.drawing import Spot, interval_chart, value_chart
from steelyard.web.live.following import Follower
from steelyard.web.live.progress import CpuUse, Landed, Progress, funnel
from steelyard.web.pages.render import filled
from steelyard.web.rows import words_of

SHOWN_TRIALS = 12
_PHASES = {
    "not_begun": "not begun",
    "opening": "opening the session",
    "preparing": "preparing: environment, reference kernel, calibration of the generator",
    "between_trials": "between two trials",
    "restoring": "decided: the machine is being restored",
    "compared": "the machine was compared with its state before",
}
_MACHINES = {"host": "Host", "system": "System under test", "generator": "Load generator"}


def document_of(follower: Follower, running: bool) -> dict[str, Any]:
    """The state as data; durations in seconds, effects as natural logarithms."""
    progress = follower.progress
    look = progress.last_look
    trial = progress.trial
    return {
        "run": follower.run.key,
        "running": running,
        "phase": progress.phase,
        "ended": progress.ended,
        "trial": None if trial is None else {"trial": trial.trial, "attempt": trial.attempt},
        "visits_done": progress.visits_done,
        "visits_planned": progress.visits_planned,
        "trials_done": len(progress.trials_good),
        "trials_planned": progress.trials_planned,
        "attempts_failed": progress.failed,
        "at_most_s_more": progress.left_s,
        "looks": [
            {"visits_done": each.visits,
             "comparisons": [one.model_dump(mode="json") for one in each.comparisons]}
            for each in progress.looks
        ],
        "forecast_visits_more": None if look is None else
        {"least": look.least_visits_more, "most": look.most_visits_more},
        "open_claims": [] if look is None else list(look.open_claims),
        "stopped": progress.stopped,
        "warnings": dict(progress.warnings),
        "trials": [_trial(each) for each in progress.landed],
        "damaged_lines": progress.damaged_lines,
        "stops_when": list(stops_when(follower)),
    }  # fmt: skip


def parts_of(follower: Follower, running: bool, chosen: int) -> dict[str, str]:
    """Pieces of the page, by the identifier of the element that each stands in."""
    progress = follower.progress
    comparisons = progress.comparisons
    place = min(max(chosen, 1), max(1, len(comparisons)))
    return {
        "now": filled("live_now.html.j2", rows=list(_now(follower, running))),
        "closing": _closing(follower, comparisons[place - 1]) if comparisons else
        filled("live_none.html.j2", text="Nothing was judged yet."),
        "verdicts": filled("live_verdicts.html.j2", rows=_verdicts(follower), chosen=place,
                           choices=_choices(follower)),
        "trials": _trials(follower),
        "cpu": filled("live_cpu.html.j2", rows=_cpu_rows(progress)),
        "stops": filled("live_stops.html.j2", lines=list(stops_when(follower))),
    }  # fmt: skip


def stops_when(follower: Follower) -> Iterator[str]:
    """What would end the run, with how far it is from each."""
    progress, study = follower.progress, follower.study
    look = progress.last_look
    if progress.phase == "ended":
        yield f"It has ended: {words_of(progress.ended or 'error')}."
        return
    if look is None:
        yield "All comparisons are decided; the first look comes after the first visit."
    else:
        still = sum(each.word in {"undecided", "not_judged"} for each in look.comparisons)
        yield f"All comparisons are decided: {still} of {len(look.comparisons)} are open" + (
            f", for about {_between(look.least_visits_more, look.most_visits_more)}."
            if look.least_visits_more is not None and not look.decided else "."
        )  # fmt: skip
        for claim in look.open_claims:
            yield f"Claim {claim} is decided as well."
    visits = counted(progress.visits_planned, "visit")
    yield f"The budget of {visits} is used up: {progress.visits_done} are done."
    if progress.budget_s is not None:
        left = progress.left_s
        now = f": {left_words(left)}" if left else ""
        yield f"The budget of {format_duration(progress.budget_s)} is used up{now}."
    if study is not None and len(study.systems) > 1:
        yield "No further visit can change a verdict (futility), or trials of a system all fail."
    yield "Somebody ends it: Ctrl-C keeps what was measured. Looking at this page changes nothing."


def _between(least: int | None, most: int | None) -> str:
    if most is None or most == least:
        return counted(least or 0, "more visit")
    return f"{least} to {most} more visits"


def _now(follower: Follower, running: bool) -> Iterator[tuple[str, str]]:
    progress = follower.progress
    yield "Phase", _phase(follower, running)
    visits = f"{progress.visits_done} of {progress.visits_planned} visits"
    yield "Done", f"{len(progress.trials_good)} of {progress.trials_planned} trials, {visits}"
    left = left_words(progress.left_s)
    if progress.phase != "ended" and left is not None:
        yield "Left", left
    if progress.failed:
        yield "Failed", counted(progress.failed, "attempt")
    if progress.warnings:
        kinds = progress.warnings.most_common()
        yield "Warnings", ", ".join(f"{kind_text(kind)} {count}" for kind, count in kinds)
    if progress.damaged_lines:
        lines = ", ".join(map(str, progress.damaged_lines))
        yield "Ledger", f"lines that cannot be read: {lines}"


def _phase(follower: Follower, running: bool) -> str:
    progress = follower.progress
    if progress.phase == "ended":
        return f"ended: {words_of(progress.ended or 'error')}"
    text = _PHASES.get(progress.phase, "")
    trial = progress.trial
    if progress.phase == "trial" and trial is not None:
        text = f"trial {trial.trial}" + (f", attempt {trial.attempt}" if trial.attempt > 1 else "")
        visits = progress.plan.every_visit if progress.plan else ()
        for visit in visits:
            for each in visit.trials:
                if each.trial == trial.trial:
                    where = follower.labels.place(each.cell.system, each.cell.conditions)
                    text += f" (visit {visit.visit}): {where}"
    return text if running else f"{text}; no process on this machine holds the run"


def _response(follower: Follower, each: InterimComparison) -> ResponseFinding:
    if follower.study is None:
        raise ValueError("a look was read before the study")
    own = studies(follower.study)
    named = {one.workload_name: ResponseFinding.of(one.primary) for one in own}
    return named.get(each.workload or "", ResponseFinding.of(own[0].primary))


def _title(follower: Follower, each: InterimComparison) -> str:
    where = "over all conditions"
    if each.conditions is not None:
        where = follower.labels.conditions(each.conditions) or "all trials"
    of = f"{each.workload}: " if each.workload else ""
    return f"{of}{each.other} against {each.baseline}, {where}"


def _choices(follower: Follower) -> list[str]:
    return [_title(follower, each) for each in follower.progress.comparisons]


def _verdicts(follower: Follower) -> list[tuple[str, ...]]:
    return [_verdict(follower, each) for each in follower.progress.comparisons]


def _verdict(follower: Follower, each: InterimComparison) -> tuple[str, ...]:
    word = said_word(VerdictWord(each.word), each.estimate_log, _response(follower, each))
    return _title(follower, each), word, *_size(each), str(each.n_baseline + each.n_other)


def _size(each: InterimComparison) -> tuple[str, str]:
    if each.estimate_log is None:
        return "–", "–"
    ends = each.low_log, each.high_log
    margin = each.margin_log
    return (
        signed_effect(each.estimate_log, beside=ends),
        interval(*ends, estimate_log=each.estimate_log, direction=None, exact_to=(margin, -margin)),
    )


def _closing(follower: Follower, lead: InterimComparison) -> str:
    """The interval after each visit, as it closes in on zero or the margin."""
    found = funnel(follower.progress.looks, lead)
    title = _title(follower, lead)
    if not found:
        return filled("live_none.html.j2", text=f"{title}: no size was asked for yet.")
    spots = [_spot(follower, visits, each) for visits, each in found]
    return str(interval_chart(spots, f"Interval after each visit: {title}", "visits done"))


def _spot(follower: Follower, visits: int, each: InterimComparison) -> Spot:
    _, word, size, between, _ = _verdict(follower, each)
    return Spot(
        x=float(visits),
        label=str(visits),
        estimate_log=each.estimate_log,
        low_log=each.low_log,
        high_log=each.high_log,
        margin_log=each.margin_log,
        words=f"after {counted(visits, 'visit')}: {word}, {size} ({between})",
        decided=each.word not in {"undecided", "not_judged"},
    )


def _trials(follower: Follower) -> str:
    """The last ones as a table, all that are kept as a drawing where they have one response."""
    landed = list(follower.progress.landed)
    rows = [_trial_row(follower, each) for each in reversed(landed[-SHOWN_TRIALS:])]
    return filled("live_trials.html.j2", rows=rows, chart=_values(follower, landed))


def _trial_row(follower: Follower, each: Landed) -> tuple[str, ...]:
    where = follower.labels.conditions(each.cell.conditions) or "–"
    value = "not measured" if each.value is None else quantity(each.value, each.unit)
    kinds = ", ".join(kind_text(kind) for kind in each.warnings) or "–"
    name = f"{each.trial}" + (f", attempt {each.attempt}" if each.attempt > 1 else "")
    return name, str(each.visit), each.cell.system, where, words_of(each.outcome), value, kinds


def _values(follower: Follower, landed: list[Landed]) -> Markup | None:
    known = [each for each in landed if each.value is not None]
    if not known or len({each.response for each in known}) > 1:
        return None
    systems = list(follower.progress.plan.systems) if follower.progress.plan else []
    scale = scale_for([each.value or 0.0 for each in known], known[0].unit)
    points = []
    for each in known:
        value, system = each.value or 0.0, each.cell.system
        place = follower.labels.place(system, each.cell.conditions)
        words = f"trial {each.trial}, {place}: {quantity(value, each.unit)}"
        which = systems.index(system) if system in systems else 0
        points.append((float(each.trial), value / scale.divisor, which, words))
    title = f"{known[0].response} of each trial: {', '.join(systems)}"
    return value_chart(points, title, "number of the trial", scale.unit)


def _trial(each: Landed) -> dict[str, Any]:
    return {
        "trial": each.trial,
        "attempt": each.attempt,
        "visit": each.visit,
        "system": each.cell.system,
        "conditions": each.cell.conditions,
        "outcome": each.outcome,
        "response": each.response,
        "value": each.value,
        "unit": each.unit,
        "warnings": list(each.warnings),
        "cpu": [vars(use) for use in each.cpu],
        "generator_capacity_ratio": each.generator_ratio,
    }


def _cpu_rows(progress: Progress) -> list[tuple[str, str, str, float | None]]:
    """Of the last trial that was sampled: machine, cores, share of what it has."""
    sampled = next((each for each in reversed(progress.landed) if each.cpu), None)
    if sampled is None:
        return []
    rows = [_cpu_row(use) for use in sampled.cpu]
    ratio = sampled.generator_ratio
    if ratio is not None:
        text = f"{percent(round(ratio, 2))} of its calibrated capacity"
        rows.append(("Generator's load", text, "", None))
    return rows


def _cpu_row(use: CpuUse) -> tuple[str, str, str, float | None]:
    share = use.cores / use.processors if use.processors else None
    cores = f"{use.cores:.2f} cores" + (f" of {use.processors:g}" if use.processors else "")
    text = "–" if share is None else percent(round(share, 2))
    return _MACHINES[use.machine], cores, text, share
