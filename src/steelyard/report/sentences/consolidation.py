"""What several instances do together, in sentences."""

from __future__ import annotations

import math

from steelyard.judge.analyses.consolidation.findings import (
    ConsolidationFinding,
    InstancesApart,
    InterferenceFinding,
    RatioFinding,
)
from steelyard.judge.findings import ResponseFinding
from steelyard.report import notes as reasons
from steelyard.report.effects import interval, signed_effect
from steelyard.report.figures import counted, fixed, listed, percent, quantity
from steelyard.report.sentences.verdict import verdict_sentence
from steelyard.report.view import View
from steelyard.report.vocabulary import noun_of, response_of
from steelyard.study.labels import Labels

_INTERFERENCE = {
    "disturbed": "they are disturbed",
    "undisturbed": "no disturbance as large as your margin",
    "open": "whether they are disturbed is open",
}


def consolidation_lines(view: View) -> list[str]:
    """A sentence for each number of instances, then system against system on density."""
    lines = [_sentence(found, view) for found in view.own.consolidation]
    density = ResponseFinding(
        name="density", label="density", unit="ratio", direction="higher", primary=False
    )
    known = view.with_own(responses=(*view.own.responses, density))
    return lines + [str(verdict_sentence(each, known)) for each in view.own.densities]


def _sentence(found: ConsolidationFinding, view: View) -> str:
    if found.density is None:
        why = "; ".join(reasons.texts(found.missing, view.run.labels)) or "not measured"
        return f"{_who(found, view.run.labels)}: {why}."
    said = [*_together(found, view), f"each {_against(found.density)} against one alone"]
    if found.least is not None and found.fairness is not None:
        said.append(f"the slowest {_against(found.least)}")
    if found.worst_over_best is not None:
        said.append(
            f"the slowest slot {_against(found.worst_over_best)} against the fastest"
            + ("" if found.fairness is None else f" (fairness {fixed(found.fairness, 4)})")
        )
    if found.interference is not None:
        said.append(_interference(found.interference))
    if found.cpu_overhead is not None:
        said.append(f"the host spends {_against(found.cpu_overhead)} against what is busy inside")
    apart = [each for each in found.missing if isinstance(each, InstancesApart)]
    said += reasons.texts(apart, view.run.labels)
    return f"{_who(found, view.run.labels)}: {'; '.join(said)} ({counted(found.visits, 'visit')})."


def _together(found: ConsolidationFinding, view: View) -> list[str]:
    """What all do, where it can be added; of times, as runs in a second."""
    if found.total is None or found.scale is None:
        return []
    response = response_of(view, found.response)
    noun = f" {noun_of(response)}" if found.unit == response.unit else ""
    times = f"{fixed(math.exp(found.scale.log), 2)} times one alone"
    return [f"together {quantity(found.total, found.unit)}{noun}, {times}"]


def _who(found: ConsolidationFinding, labels: Labels) -> str:
    place = labels.place(found.system, found.conditions)
    return f"{counted(found.instances, 'instance')} of {place}"


def _interference(found: InterferenceFinding) -> str:
    background = listed(found.background) or "nothing"
    return f"beside {background}: {_INTERFERENCE[found.word]}, {_against(found.change)}"


def _against(found: RatioFinding) -> str:
    if found.low_log is None or found.high_log is None:
        return signed_effect(found.log)
    ends = interval(found.low_log, found.high_log, estimate_log=found.log)
    size = signed_effect(found.log, beside=(found.low_log, found.high_log))
    return f"{size} ({percent(0.95)} interval {ends})"
