"""From an import to findings: what its design allows, judged once. Pure."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from statistics import median
from typing import Literal

from steelyard.imports.record import ImportedResponse, ImportedTrial, ImportRecord
from steelyard.inference.sequential import VerdictWord
from steelyard.judge.cells import INTERVAL_LEVEL, median_interval
from steelyard.judge.comparisons.families import Family
from steelyard.judge.findings import (
    CellFinding,
    ResponseFinding,
    RunFindings,
    StopFinding,
    VerdictFinding,
    WorkloadFindings,
)
from steelyard.judge.kinds.caveats import Caveat, JudgedOnce, OrderNotRandom, SystemsLeftOut
from steelyard.judge.kinds.not_measured import ValueMissing
from steelyard.judge.kinds.verdict_notes import (
    NotJudged,
    NoVariation,
    TooFewVisits,
    ValueUnusable,
)
from steelyard.judge.own_trials.arguments import Declared
from steelyard.judge.own_trials.rows import LEAST_VISITS, TrialRows, TrialsError, visits_of
from steelyard.judge.own_trials.verdicts import judge_rows
from steelyard.judge.own_trials.visits import LOAD
from steelyard.judge.visits.scales import Unusable
from steelyard.plan.model import Cell
from steelyard.study.model import Level

ALPHA = 0.05

Conditions = dict[str, Level]


def findings_of(record: ImportRecord, run: str, sha256: str) -> RunFindings:
    """All that can be said of an import; the primary response carries the guarantee.

    Raises:
        TrialsError: as ``refuse_what_is_not_judged``.
    """
    conditions = record.conditions
    verdicts = tuple(_verdicts(record, conditions))
    own = WorkloadFindings(
        name=record.kind,
        conditions=conditions,
        responses=tuple(_response(each, record) for each in record.responses),
        verdicts=verdicts,
        cells=tuple(_cells(record, conditions)),
        caveats=tuple(_caveats(record)),
    )
    return RunFindings(
        tool_version=record.tool_version,
        study=f"import-{record.kind}",
        question=record.question,
        variant=None,
        study_sha256=sha256,
        seed=0,
        run=run,
        design="none",
        systems=record.systems,
        baseline=record.baseline,
        stop=StopFinding(
            reason="imported",
            visits_done=len({trial.visit for trial in record.trials}),
            visits_planned=len({trial.visit for trial in record.trials}),
            trials_done=len(record.trials),
            attempts_failed=0,
            spent_s=0.0,
        ),
        workloads=(own,),
        attempts=(),
        differences=(),
        tested=_versions(record),
    )


def refuse_what_is_not_judged(record: ImportRecord) -> None:
    """Before anything is kept.

    Raises:
        TrialsError: the primary response has more trials than are judged, or one that is too far
            from the others.
    """
    response = next(each for each in record.responses if each.name == record.primary)
    trials = _trials_with(response, record)
    if response.direction != "none" and not _why_not(trials, response, record):
        visits_of(_rows(response, trials, record.conditions), record.baseline, "none")


def _caveats(record: ImportRecord) -> Iterator[Caveat]:
    yield OrderNotRandom()
    yield JudgedOnce()
    if record.left_out:
        yield SystemsLeftOut(trials=record.left_out)


def _response(each: ImportedResponse, record: ImportRecord) -> ResponseFinding:
    return ResponseFinding(
        name=each.name,
        label=each.label,
        unit=each.unit,
        direction=each.direction,
        primary=each.name == record.primary,
    )


def _versions(record: ImportRecord) -> dict[str, dict[str, tuple[str, ...]]]:
    """Versions of the tool that measured each system, as far as the files say."""
    found: dict[str, dict[str, tuple[str, ...]]] = {}
    for system in record.systems:
        files = dict.fromkeys(t.file for t in record.trials if t.system == system)
        said = dict.fromkeys(v for n in files if (v := record.files[n - 1].version) is not None)
        if said:
            found[system] = {"tool.version": tuple(said)}
    return found


def _cells(record: ImportRecord, conditions: tuple[Conditions, ...]) -> Iterator[CellFinding]:
    """Those of every condition in which some trial has the number, or says why it has none."""
    for response in record.responses:
        name = response.name
        told = [t.conditions for t in record.trials if name in t.values or name in t.missing]
        for condition in (each for each in conditions if each in told):
            for system in record.systems:
                own = [
                    trial
                    for trial in record.trials
                    if (trial.system, trial.conditions) == (system, condition)
                ]
                yield _cell(Cell(system=system, conditions=condition), name, own)


def _cell(cell: Cell, response: str, trials: list[ImportedTrial]) -> CellFinding:
    known = [trial for trial in trials if response in trial.values]
    values = tuple(trial.values[response] for trial in known)
    low, high = median_interval(values)
    reasons = [t.missing.get(response) for t in trials if response not in t.values]
    return CellFinding(
        cell=cell,
        response=response,
        values=values,
        trials=tuple(trial.trial for trial in known),
        median=median(values) if values else None,
        low=low,
        high=high,
        interval_level=INTERVAL_LEVEL,
        not_measured=tuple(ValueMissing(reason=each) for each in dict.fromkeys(reasons)),
    )


def _verdicts(record: ImportRecord, conditions: tuple[Conditions, ...]) -> Iterator[VerdictFinding]:
    """Those of the primary response, then those that only explore."""
    for response in sorted(record.responses, key=lambda each: each.name != record.primary):
        is_primary = response.name == record.primary
        trials = _trials_with(response, record)
        if response.direction == "none" or (not is_primary and not _judgeable(trials, record)):
            continue
        if why := _why_not(trials, response, record):
            if is_primary:
                yield from _not_judged(record, response, why)
            continue
        try:
            found = list(_judged(record, response, trials, conditions))
        except TrialsError:
            if is_primary:
                raise
            continue
        for verdict in found:
            label = {"response": response.label}
            if not is_primary:
                label["scope"] = "exploratory"
            family = verdict.family.model_copy(update=label)
            beside = {"family": family, "exploratory": not is_primary}
            yield verdict.model_copy(update=beside)


def _trials_with(response: ImportedResponse, record: ImportRecord) -> list[ImportedTrial]:
    return [trial for trial in record.trials if response.name in trial.values]


def _judgeable(trials: list[ImportedTrial], record: ImportRecord) -> bool:
    return {trial.system for trial in trials} == set(record.systems)


def _why_not(
    trials: list[ImportedTrial], response: ImportedResponse, record: ImportRecord
) -> tuple[NotJudged, ...]:
    """Why no verdict is possible, however much was measured: the gravest reason."""
    visits = {trial.visit: trial.system for trial in trials}
    systems = list(visits.values())
    fewest = min(
        systems.count(record.baseline) + systems.count(name)
        for name in record.systems
        if name != record.baseline
    )
    if fewest < LEAST_VISITS:
        return (TooFewVisits(visits=fewest, needed=LEAST_VISITS),)
    if without_ratio := tuple(_without_ratio(trials, response)):
        return without_ratio
    if len({trial.values[response.name] for trial in trials}) == 1:
        return (NoVariation(),)
    return ()


def _without_ratio(
    trials: list[ImportedTrial], response: ImportedResponse
) -> Iterator[ValueUnusable]:
    """One for each system, and each kind of value, that no ratio can be computed of."""
    measured = [(trial.system, trial.values[response.name]) for trial in trials]
    wrong = [Unusable(name, _kind(y)) for name, y in measured if not 0 < y < math.inf]
    for each, count in Counter(wrong).items():
        yield each.note(count)


def _kind(value: float) -> Literal["zero", "negative_or_not_finite"]:
    return "zero" if value == 0 else "negative_or_not_finite"


def _judged(
    record: ImportRecord,
    response: ImportedResponse,
    trials: list[ImportedTrial],
    conditions: tuple[Conditions, ...],
) -> Iterator[VerdictFinding]:
    """By the judge of trials measured elsewhere."""
    declared = Declared(
        record.baseline,
        record.margin_ratio,
        "none",
        "lower" if response.direction == "lower" else "higher",
        ALPHA,
        name=response.name,
        unit=response.unit,
    )
    rows = _rows(response, trials, conditions)
    for verdict in judge_rows(rows, declared, ordered=False).verdicts:
        at = None if verdict.conditions is None else verdict.conditions.get(LOAD)
        own = verdict.conditions if at is None else conditions[int(at)]
        yield verdict.model_copy(update={"conditions": own})


def _rows(
    response: ImportedResponse, trials: list[ImportedTrial], conditions: tuple[Conditions, ...]
) -> TrialRows:
    """Each combination of conditions is a load."""
    numbers = {tuple(each.items()): at for at, each in enumerate(conditions)}
    several = len(conditions) > 1
    return TrialRows(
        system=[trial.system for trial in trials],
        response=[trial.values[response.name] for trial in trials],
        load=[numbers[tuple(t.conditions.items())] for t in trials] if several else None,
        visit=[trial.visit for trial in trials],
    )


def _not_judged(
    record: ImportRecord, response: ImportedResponse, why: tuple[NotJudged, ...]
) -> Iterator[VerdictFinding]:
    for other in record.systems:
        if other == record.baseline:
            continue
        counts = [
            len({t.visit for t in record.trials if t.system == name})
            for name in (record.baseline, other)
        ]
        yield VerdictFinding(
            response=response.name,
            baseline=record.baseline,
            other=other,
            conditions=None,
            word=VerdictWord.NOT_JUDGED,
            words=(),
            margin_log=math.log1p(record.margin_ratio),
            alpha=ALPHA,
            family=Family(response=response.label, scope="overall"),
            estimate_log=None,
            low_log=None,
            high_log=None,
            interval_level=1 - ALPHA,
            equivalence_low_log=None,
            equivalence_high_log=None,
            n_baseline=counts[0],
            n_other=counts[1],
            decided_at_visit=None,
            noise_log=None,
            visits_to_decide=None,
            exploratory=False,
            spread_ratio=None,
            stall_rate_baseline=None,
            stall_rate_other=None,
            not_judged=why,
        )
