"""The plan in the words that ``steelyard plan`` prints."""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace

from steelyard.plan.budget import first_look, time_s
from steelyard.plan.limit_words import limit_rows
from steelyard.plan.model import Plan
from steelyard.plan.reach import Reach, first_reached
from steelyard.plan.screen_words import screen_rows
from steelyard.plan.trial_words import (
    assumed_words,
    calibration_words,
    ready_words,
    takes,
    trial_words,
)
from steelyard.study.labels import Labels
from steelyard.study.lookup import platform_of
from steelyard.study.model import FIND, Study
from steelyard.study.reference import UNVERIFIED
from steelyard.study.timing import MOST_VISITS_OF_ONE, searched_unit
from steelyard.study.workload_study import WorkloadStudy, studies, study_of
from steelyard.units import format_bytes, format_duration, format_margin, format_share

_SHOWN_VISITS = 16
_MORE = ", more where the first {} take less than assumed"
_SHOWN_CONDITIONS = 12
_SCOPES = {"overall": "over all conditions", "conditions": "at single conditions"}


def plan_lines(study: Study, plan: Plan, reaches: tuple[Reach, ...] = ()) -> list[str]:
    """What is compared, in which order, and what it will take; one entry per line.

    ``reaches`` say after how many visits the judge can tell a difference at all.
    """
    labels = Labels.of(study)
    variant = f" (variant {study.variant})" if study.variant else ""
    return [
        f"{study.name}{variant}: {study.question}",
        "",
        *_pairs(
            [
                *([("compared", _compared(plan))] if plan.visits else []),
                *_unverified(study),
                ("workload", _workload(study)),
                *_generators(study),
                *_events(study),
                *limit_rows(study),
                *_conditions_and_cells(study, plan, labels),
                *_influence(study, plan),
                *screen_rows(study, plan, labels),
                ("responses", _responses(study)),
                ("margin", _margin(study)),
                ("trial", trial_words(study, plan)),
                *ready_words(study),
                assumed_words(study, plan),
                ("calibration", calibration_words(plan)),
                *_visits_in_order(study, plan),
                ("trials", f"{_trials(study, plan)}, {takes(study, plan, plan.forecast.total_s)}"),
                *_span(study, plan),
                *_earliest(study, plan, reaches),
                *_finds(reaches),
                ("disk", f"about {format_bytes(plan.forecast.disk_bytes)} of results"),
                ("seed", _seed(study, plan)),
                ("study sha256", plan.study_sha256),
            ]
        ),
    ]


def other_order(plan: Plan) -> str:
    """What ``run`` does where neither the study nor the command line fixes a seed."""
    return f"`steelyard run` draws another order; with --seed {plan.seed} it takes this one."


def _searches(study: Study, plan: Plan, labels: Labels) -> list[tuple[str, str]]:
    """What is looked for in each visit besides, with its limits."""
    rows = []
    for searched in plan.searches:
        rest = labels.conditions({name: level for name, level in searched.items() if name != FIND})
        find = study.find[str(searched[FIND])]
        limits = ", ".join(f"{limit.name} {limit.text}" for limit in find.limits)
        at = f" at {rest}" if rest else ""
        unit = searched_unit(study_of(study, searched))
        rows.append(("search", f"{find.name}{at}: the most {unit} with {limits}"))
    return rows


def _conditions_and_cells(study: Study, plan: Plan, labels: Labels) -> list[tuple[str, str]]:
    if not plan.visits:
        return []
    return [
        ("conditions", _conditions(plan, labels)),
        *_searches(study, plan, labels),
        ("cells", _cells(plan)),
    ]


def _influence(study: Study, plan: Plan) -> list[tuple[str, str]]:
    if study.ask is None or not plan.visits:
        return []
    varied = (n for one in studies(study) for n, levels in one.factors.items() if len(levels) > 1)
    names = dict.fromkeys((study.compare, *varied))
    return [("influence", f"of {', '.join(names)}; {study.compare} changes between visits only")]


def _visits_in_order(study: Study, plan: Plan) -> list[tuple[str, str]]:
    if not plan.visits:
        return []
    return [
        ("order", _order(plan) + _leaving(study)),
        ("first visits", _first_visits(plan)),
        ("visits", _visits(study, plan)),
    ]


def _pairs(rows: Sequence[tuple[str, str]]) -> list[str]:
    width = max(len(key) for key, _ in rows)
    return [f"  {key:<{width}}  {value}" for key, value in rows]


def _compared(plan: Plan) -> str:
    first, *others = plan.systems
    return f"{', '.join(others)} with {first} (baseline)"


def _unverified(study: Study) -> list[tuple[str, str]]:
    """Platforms that no one has seen run, which a reader of figures must know."""
    unverified = {s.platform for s in study.systems.values() if not platform_of(s).verified}
    names = ", ".join(sorted(unverified))
    return [("unverified", f"platform {names}: {UNVERIFIED}")] if unverified else []


def _workload(study: Study) -> str:
    return _by_workload({n: f"{w.use} ({w.operation})" for n, w in study.workloads.items()})


def _generators(study: Study) -> list[tuple[str, str]]:
    """Machines that drive the load together; nothing of a single one."""
    hosts = study.generator.hosts
    if len(hosts) == 1:
        return []
    return [("generators", f"{len(hosts)} share every load: {', '.join(hosts)}")]


def _events(study: Study) -> list[tuple[str, str]]:
    """What is run where while the load runs, and when."""
    return [
        (
            "event",
            f"{each.name}: {format_duration(each.at_s)} after the start of the window "
            f"`{shlex.join(each.command)}` on {each.on}, at most {format_duration(each.within_s)}; "
            f"late is what takes more than {format_duration(each.late_s)}, and it is over after "
            f"{format_duration(each.calm_s)} without"
            + (f"; then `{shlex.join(each.undo)}`" if each.undo else ""),
        )
        for each in study.events.values()
    ]


def _conditions(plan: Plan, labels: Labels) -> str:
    texts = [labels.conditions(condition) for condition in plan.conditions]
    if texts == [""]:
        return "none"
    more = len(texts) - _SHOWN_CONDITIONS
    shown = "; ".join(texts[:_SHOWN_CONDITIONS])
    return f"{shown}; and {more} more" if more > 0 else shown


def _count(count: int, noun: str) -> str:
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def _cells(plan: Plan) -> str:
    systems, conditions = len(plan.systems), len(plan.conditions)
    product = f"{_count(systems, 'system')} × {_count(conditions, 'condition')}"
    missing = len(plan.not_applicable)
    less = f", {missing} of them not applicable" if missing else ""
    return f"{systems * conditions - missing:,} ({product}{less})"


def _responses(study: Study) -> str:
    return _by_workload({own.workload_name: _responses_of(own) for own in studies(study)})


def _responses_of(own: WorkloadStudy) -> str:
    others = [name for name, response in own.responses.items() if not response.primary]
    return ", ".join([f"{own.primary.name} (primary)", *others])


def _by_workload(words: Mapping[str, str]) -> str:
    """What is said of each workload; with its name where there are several."""
    if len(words) == 1:
        return next(iter(words.values()))
    return "; ".join(f"{name}: {each}" for name, each in words.items())


def _margin(study: Study) -> str:
    count = len(studies(study))
    shared = f", shared equally by {count} workloads" if count > 1 else ""
    return (
        f"{format_margin(study.trials.margin_ratio)}, false verdicts at most "
        f"{format_share(study.trials.alpha)}{shared}"
    )


def _order(plan: Plan) -> str:
    inside = "conditions in random order within each visit"
    if plan.design == "big_stick":
        return f"each visit at random, never more than 2 apart (big stick); {inside}"
    if plan.design == "pairs":
        return f"pairs of visits, both systems in each, the first at random; {inside}"
    many = len(plan.systems)
    if plan.design == "blocks":
        return f"blocks of {many} visits, every system once in random order; {inside}"
    decided = "systems that are decided leave between blocks"
    return f"blocks of {2 * many} visits, every system twice in random order; {decided}; {inside}"


def _leaving(study: Study) -> str:
    if len(studies(study)) == 1:
        return ""
    return "; a workload whose questions are all answered is left out of later visits"


def _first_visits(plan: Plan) -> str:
    names = [visit.system for visit in plan.visits]
    shown = " ".join(names[:_SHOWN_VISITS])
    return f"{shown} ..." if len(names) > _SHOWN_VISITS else shown


def _visits(study: Study, plan: Plan) -> str:
    counts = [
        f"{system} {sum(visit.system == system for visit in plan.visits)}"
        for system in plan.systems
    ]
    most = MOST_VISITS_OF_ONE * len(plan.systems)
    limit = f"; {most:,} are the most of any plan" if len(plan.visits) >= most else ""
    budget = study.trials.budget
    none = time_s(study, plan) is None and budget.trials_per_cell is None
    default = "; no budget is given, this is the default" if none else ""
    bound = " at most" if _ends_by_visits(study, plan) else _MORE.format(first_look(study))
    return f"{len(plan.visits):,}{bound} ({', '.join(counts)}){limit}{default}"


def _ends_by_visits(study: Study, plan: Plan) -> bool:
    """Whether no visit is added where the first ones take less time than is assumed."""
    per_cell = study.trials.budget.trials_per_cell
    by_trials = per_cell is not None and per_cell * len(plan.systems) <= len(plan.visits)
    most = len(plan.visits) >= MOST_VISITS_OF_ONE * len(plan.systems)
    by_time = time_s(study, plan) is not None
    by_word = plan.budget_time_s is not None
    return most or not by_time or plan.screen is not None or (by_trials and not by_word)


def _trials(study: Study, plan: Plan) -> str:
    bound = " at most" if _ends_by_visits(study, plan) else ""
    return f"{sum(len(visit.trials) for visit in plan.every_visit):,}{bound}"


def _span(study: Study, plan: Plan) -> list[tuple[str, str]]:
    """The time before which nothing is decided, and whether the budget lasts as long."""
    span_s, visits_s = study.trials.span_s, len(plan.visits) * plan.forecast.visit_s
    if span_s is None or not plan.visits:
        return []
    words = f"no verdict before {format_duration(span_s)} lie between the first visit and the last"
    if visits_s < span_s:
        words += (
            f"; the budget may end after {format_duration(visits_s)} with nothing decided: allow "
            "more trials, or continue later with `steelyard resume --extend`"
        )
    return [("span", words)]


def _earliest(study: Study, plan: Plan, reaches: tuple[Reach, ...]) -> list[tuple[str, str]]:
    """When a first verdict may come, and which cannot come at all with this budget."""
    visits = min(first_look(study), len(plan.visits))
    reached = first_reached(reaches)
    if reached is not None:
        visits = max(visits, reached * len(plan.systems) // 2)
    after_s = plan.forecast.earliest_verdict_s
    if not plan.visits:
        rows = [("earliest verdict", f"after {takes(study, plan, after_s)}")]
    else:
        visits = max(visits, _visits_in(study.trials.span_s, plan))
        after_s = plan.forecast.calibration_s + visits * plan.forecast.visit_s
        earliest = f"after {visits} visits, {takes(study, plan, after_s)}"
        rows = [("earliest verdict", earliest)] if reached or not reaches else []
    return rows + [("out of reach", words) for words in _out_of_reach(reaches)]


def _finds(reaches: Sequence[Reach]) -> list[tuple[str, str]]:
    """What the whole budget finds, of the comparisons that find the least."""
    within = [each for each in reaches if each.needed is not None and each.found_log]
    if not within:
        return []
    hardest = max(within, key=lambda each: max(each.found_log.values()))
    loudest = {size: noise for noise, size in sorted(hardest.found_log.items())}
    sizes = [f"{_percent(size)} at {_percent(noise)}" for size, noise in loudest.items()]
    first = f"{sizes[0]} noise a visit"
    return [("finds", f"in 9 of 10 runs a difference of {', '.join([first, *sizes[1:]])}")]


def _percent(size_log: float) -> str:
    return f"{100 * math.expm1(size_log):.2g} %"


def _visits_in(span_s: float | None, plan: Plan) -> int:
    """Visits that last as long, at most all."""
    visits = math.ceil((span_s or 0.0) / plan.forecast.visit_s)
    return min(visits, len(plan.visits))


def _out_of_reach(reaches: Sequence[Reach]) -> list[str]:
    """What is said of the comparisons that the budget cannot decide; alike ones in one sentence."""
    lacking = [each for each in reaches if each.needed is None]
    kinds = dict.fromkeys(replace(each, workload="") for each in lacking)
    several = len({each.workload for each in reaches}) > 1
    return [
        _lacking(kind, [e.workload for e in lacking if several and replace(e, workload="") == kind])
        for kind in kinds
    ]


def _lacking(kind: Reach, workloads: list[str]) -> str:
    of = f" of {', '.join(workloads)}" if workloads else ""
    return (
        f"a difference {_SCOPES[kind.scope]}{of}, however large: {kind.planned} visits of a pair "
        f"have too few orders for {format_share(kind.side)} a side; {kind.would_do} have enough, "
        "or let fewer systems, conditions or workloads share the error rate"
    )


def _seed(study: Study, plan: Plan) -> str:
    return f"{plan.seed} (of the study)" if plan.seed == study.trials.seed else str(plan.seed)
