"""Macros of what was found, named after it: for the words that authors write themselves."""

from __future__ import annotations

from steelyard.judge.findings import CellFinding, ResponseFinding, VerdictFinding
from steelyard.report.effects import interval, signed_effect
from steelyard.report.figures import Scale, quantity, scale_for
from steelyard.report.formats.latex.numbers import Numbers, named
from steelyard.report.sentences.verdict import ends_of, excludes_zero
from steelyard.report.view import View
from steelyard.report.vocabulary import direction_of, response_of, verdict_word
from steelyard.study.model import Level

_OVERALL = "overall"


def define_quantities(view: View, numbers: Numbers) -> None:
    """Each comparison with its change, interval, word and visits; each cell with its median."""
    for verdict in view.own.verdicts:
        _verdict(verdict, view, numbers)
    for response in view.own.responses:
        own = [cell for cell in view.own.cells if cell.response == response.name]
        scale = scale_for([value for cell in own for value in cell.values], response.unit)
        for cell in own:
            _cell(cell, response, scale, view, numbers)


def _verdict(verdict: VerdictFinding, view: View, numbers: Numbers) -> None:
    response = response_of(view, verdict.response)
    place = _place(verdict.conditions, view)
    against = verdict.baseline if verdict.baseline != view.run.baseline else ""
    name = named(view.heading or "", response.name, verdict.other, against, place)
    what = f"{response.label} of {verdict.other} against {verdict.baseline}, {place}"
    found = {
        "Word": verdict_word(verdict, response),
        "Visits": str(verdict.n_baseline + verdict.n_other),
    }
    if verdict.estimate_log is not None:
        ends = ends_of(verdict)
        found["Change"] = signed_effect(verdict.estimate_log, beside=ends)
        found["Interval"] = interval(
            *ends,
            estimate_log=verdict.estimate_log,
            direction=direction_of(response),
            excludes_zero=excludes_zero(verdict.word),
        )
    for part, value in found.items():
        numbers.define(f"{name}{part}", value, f"{part.lower()}: {view.titled(what)}")


def _cell(
    cell: CellFinding, response: ResponseFinding, scale: Scale, view: View, numbers: Numbers
) -> None:
    if cell.median is None:
        return
    place = _place(cell.cell.conditions, view)
    name = named(view.heading or "", response.name, cell.cell.system, place)
    what = view.titled(f"{response.label} of {cell.cell.system}, {place}")
    numbers.define(f"{name}Median", quantity(cell.median, response.unit, scale), f"median: {what}")
    numbers.define(f"{name}Trials", str(len(cell.values)), f"trials: {what}")


def _place(conditions: dict[str, Level] | None, view: View) -> str:
    return view.run.labels.conditions(conditions or {}) or _OVERALL
