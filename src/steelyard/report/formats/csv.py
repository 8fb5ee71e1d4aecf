"""Findings as one flat table for any spreadsheet: every value, summary, verdict and attempt.

One file; the column ``kind`` says what a row is (``value`` one trial, ``cell`` the summary of one
cell, ``verdict`` one comparison, ``interaction`` its effect on one of several machines less the
mean of all, ``attempt`` one try at a trial, ``peak`` one curve over the load,
``level`` one of its levels, ``steadiness`` the windows of one cell,
``consolidation`` several instances at once, ``interference`` a victim beside an aggressor,
``mean`` a mean of a section, ``cost`` what one instance cost its host, ``placement`` where
threads of it ran, ``not_applicable`` a cell that cannot exist). Figures are unrounded, in the unit
of the column ``unit``; what was not measured is an empty field with its reason in ``note``.

Text that a spreadsheet would take for a formula has an apostrophe before it; numbers never do.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import Any

from steelyard.judge.analyses.claims.findings import ClaimFinding
from steelyard.judge.analyses.consolidation.findings import ConsolidationFinding
from steelyard.judge.analyses.ranking.findings import RankingFinding
from steelyard.judge.analyses.sections.findings import SectionFinding
from steelyard.judge.analyses.steadiness.findings import SteadyFinding
from steelyard.judge.findings import (
    AttemptFinding,
    CellFinding,
    RunFindings,
    VerdictFinding,
)
from steelyard.judge.machines.findings import MachinesFinding
from steelyard.judge.visits.pairs import MACHINE
from steelyard.plan.model import Cell
from steelyard.report import notes
from steelyard.report.formats.csv_influence import influence_rows
from steelyard.report.notes.verdict import note_text
from steelyard.report.notes.warnings import bottleneck_text, warning_text
from steelyard.report.sentences.claims import claim_family
from steelyard.report.tables.costs import cost_rows
from steelyard.report.tables.interference import interference_rows
from steelyard.report.tables.latency import flat_percentile_rows
from steelyard.report.tables.requests import flat_request_rows
from steelyard.report.tables.saturation import saturation_rows
from steelyard.report.view import View, views
from steelyard.report.vocabulary import family_text, response_of
from steelyard.study.labels import Labels
from steelyard.study.model import WORKLOAD

COLUMNS = (
    "kind", "study", "run", "response", "unit", "system", "baseline", "trial", "attempt", "visit",
    "value", "median", "low", "high", "interval_level", "n", "n_baseline", "word", "words",
    "estimate_log", "low_log", "high_log", "equivalence_low_log", "equivalence_high_log",
    "margin_log", "best", "worst", "effect", "levels", "against", "alpha", "family",
    "exploratory", "instance", "least", "greatest", "outcome", "bottleneck", "wall_s",
    "overhead_s", "note",
)  # fmt: skip
CONDITION = "condition."
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_NOT_FLAT = {"conditions", "words", "family", "guardrails", "withheld", "not_judged", "notes"}


def csv_text(run: RunFindings) -> str:
    """The whole table; each condition is a column of its own, as ``condition.load.users``."""
    names = list(dict.fromkeys(name for c in _every_condition(run) for name in c))
    columns = [*COLUMNS, *(CONDITION + name for name in names)]
    out = io.StringIO()
    writer = csv.DictWriter(out, columns, restval="", extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    for row in _rows(run):
        whole = {"study": run.study, "run": run.run} | row
        writer.writerow({name: without_formula(cell) for name, cell in whole.items()})
    return out.getvalue()


def without_formula(cell: Any) -> Any:
    """A cell that no spreadsheet computes: what begins as a formula does, and is no number."""
    if not isinstance(cell, str) or not cell.startswith(_FORMULA) or _is_number(cell):
        return cell
    return f"'{cell}"


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return text.isascii() and text == text.strip()


def _every_condition(run: RunFindings) -> Iterator[dict[str, Any]]:
    for own in run.workloads:
        yield from own.conditions
        yield from (cell.cell.conditions for cell in own.cells)


def _rows(run: RunFindings) -> Iterator[dict[str, Any]]:
    yield from (row | _conditions(row["conditions"]) for row in interference_rows(run))
    for view in views(run):
        name = {} if view.heading is None else _conditions({WORKLOAD: view.heading})
        yield from (name | row for row in _of_one(view))


def _of_one(view: View) -> Iterator[dict[str, Any]]:
    own, labels = view.own, view.run.labels
    visits = {a.trial: a.visit for a in view.attempts}
    for verdict in own.verdicts:
        yield _verdict(verdict, response_of(view, verdict.response).unit)
    yield from (row for found in own.machines for row in _interaction(found, view))
    for ranking in own.rankings:
        yield from _ranking(ranking, response_of(view, ranking.response).unit)
    for each in own.influence:
        yield from influence_rows(each, response_of(view, each.response).unit, labels)
    for claim in own.claims:
        yield from _claim(claim, response_of(view, claim.response).unit, labels)
    for cell in own.cells:
        yield from _cell(cell, response_of(view, cell.response).unit, visits, labels)
    yield from saturation_rows(view)
    for found in own.consolidation:
        yield _consolidation(found, labels)
    for section in own.sections:
        yield from _means(section)
    yield from (row | _conditions(row["conditions"]) for row in cost_rows(view))
    for window in own.steadiness:
        yield _steadiness(window, labels)
    yield from flat_request_rows(own.request_times)
    for times in own.latency:
        yield from flat_percentile_rows(times)
    yield from map(_attempt, view.attempts)
    yield from map(_not_applicable, own.not_applicable)


def _not_applicable(cell: Cell) -> dict[str, Any]:
    return {"kind": "not_applicable", "system": cell.system, **_conditions(cell.conditions)}


def _verdict(verdict: VerdictFinding, unit: str) -> dict[str, Any]:
    row = verdict.model_dump(mode="json", exclude=_NOT_FLAT)
    return row | {
        "kind": "verdict",
        "unit": unit,
        "system": verdict.other,
        "n": verdict.n_other,
        "words": " ".join(verdict.words),
        "family": family_text(verdict.family),
        "note": "; ".join(map(note_text, verdict.reasons)),
        **_conditions(verdict.conditions or {}),
    }


def _interaction(found: MachinesFinding, view: View) -> Iterator[dict[str, Any]]:
    """The effect on each machine less the mean of all."""
    for each in found.effects:
        yield {
            "kind": "interaction",
            "response": found.response,
            "unit": response_of(view, found.response).unit,
            "system": found.other,
            "baseline": found.baseline,
            "word": found.interaction,
            "estimate_log": each.deviation_log,
            "low_log": each.low_log,
            "high_log": each.high_log,
            "margin_log": found.margin_log,
            "alpha": found.alpha,
            **_conditions({MACHINE: each.machine, **(found.conditions or {})}),
        }


def _ranking(ranking: RankingFinding, unit: str) -> Iterator[dict[str, Any]]:
    for place in ranking.places:
        yield place.model_dump(mode="json", exclude={"next"}) | {
            "kind": "place",
            "response": ranking.response,
            "unit": unit,
            "alpha": ranking.alpha,
            "note": f"to the next: {place.next}" if place.next else "",
            **_conditions(ranking.conditions or {}),
        }


def _claim(claim: ClaimFinding, unit: str, labels: Labels) -> Iterator[dict[str, Any]]:
    shared = {
        "kind": "claim",
        "response": claim.response,
        "unit": unit,
        "alpha": claim.alpha,
        "family": claim_family(claim.family),
        **_conditions(claim.conditions),
    }
    yield shared | {
        "system": claim.subject,
        "word": claim.word,
        "note": "; ".join([claim.id, *notes.texts(claim.notes, labels)]),
    }
    for part in claim.parts:
        yield shared | {
            "kind": "claim_part",
            "system": part.subject,
            "baseline": part.other,
            "word": part.word,
            "estimate_log": part.estimate_log,
            "low_log": part.low_log,
            "high_log": part.high_log,
            "interval_level": part.interval_level,
            "n": part.n_subject,
            "n_baseline": part.n_other,
            "note": "; ".join([claim.id, *map(note_text, part.notes)]),
        }


def _cell(
    cell: CellFinding, unit: str, visits: dict[int, int], labels: Labels
) -> Iterator[dict[str, Any]]:
    shared = {
        "response": cell.response,
        "unit": unit,
        "system": cell.cell.system,
        **_conditions(cell.cell.conditions),
    }
    yield shared | {
        "kind": "cell",
        "median": cell.median,
        "low": cell.low,
        "high": cell.high,
        "interval_level": cell.interval_level,
        "n": len(cell.values),
        "note": "; ".join(notes.texts(cell.not_measured, labels)),
    }
    for trial, value in zip(cell.trials, cell.values, strict=True):
        visit = visits.get(trial)
        yield shared | {"kind": "value", "trial": trial, "visit": visit, "value": value}


def _consolidation(found: ConsolidationFinding, labels: Labels) -> dict[str, Any]:
    density = found.density
    return {
        "kind": "consolidation",
        "response": found.response,
        "unit": found.unit,
        "system": found.system,
        "value": found.total,
        "estimate_log": None if density is None else density.log,
        "low_log": None if density is None else density.low_log,
        "high_log": None if density is None else density.high_log,
        "interval_level": found.interval_level,
        "n": found.visits,
        "note": "; ".join(notes.texts(found.missing, labels)),
        **_conditions({**found.conditions, "system.instances": found.instances}),
    }


def _means(section: SectionFinding) -> Iterator[dict[str, Any]]:
    """Differences and their ends stand where values and theirs do, in the unit of the response."""
    for mean in section.means:
        shared = {section.by: section.level, section.means_by: mean.level}
        at = {name: level for name, level in shared.items() if name and level is not None}
        yield mean.model_dump(mode="json", exclude={"notes", "level", "conditions"}) | {
            "kind": "mean",
            "response": section.response,
            "unit": section.unit,
            "system": mean.other,
            "value": mean.difference,
            "low": mean.difference_low,
            "high": mean.difference_high,
            "n": mean.n_other,
            "alpha": section.alpha,
            "family": family_text(section.family),
            "note": "; ".join(map(note_text, mean.notes)),
            **_conditions(at),
        }


def _steadiness(window: SteadyFinding, labels: Labels) -> dict[str, Any]:
    return {
        "kind": "steadiness",
        "unit": "s",
        "system": window.cell.system,
        "word": window.state.value,
        "value": window.cut_s,
        "estimate_log": window.bias_log,
        "low_log": window.drift_low_log,
        "high_log": window.drift_high_log,
        "n": window.trials,
        "note": None if window.reason is None else notes.text(window.reason, labels),
        **_conditions(window.cell.conditions),
    }


_NOT_IN_ROW = {"cell", "message", "hint", "warnings", "bottleneck"}


def _attempt(attempt: AttemptFinding) -> dict[str, Any]:
    said = [attempt.message, attempt.hint, *map(warning_text, attempt.warnings)]
    row = attempt.model_dump(mode="json", exclude=_NOT_IN_ROW)
    return row | {
        "kind": "attempt",
        "system": attempt.cell.system,
        "note": "; ".join(part for part in said if part),
        "bottleneck": None if attempt.bottleneck is None else bottleneck_text(attempt.bottleneck),
        **_conditions(attempt.cell.conditions),
    }


def _conditions(conditions: dict[str, Any]) -> dict[str, Any]:
    return {CONDITION + name: level for name, level in conditions.items()}
