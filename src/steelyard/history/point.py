"""One run as a point in time: what it found, on which machine, with which versions."""

from __future__ import annotations

import hashlib
import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import get_args

from pydantic import Field

from steelyard.inference.randomisation import Design
from steelyard.inference.sequential import VerdictWord
from steelyard.judge.findings import (
    ResponseFinding,
    RunFindings,
    VerdictFinding,
    WorkloadFindings,
)
from steelyard.judge.visits.reference_kernel import measured_before
from steelyard.plan.model import Frozen
from steelyard.records.archive import RunFacts
from steelyard.records.schema import TrialRecord

_IDENTITY = ("machine_id.sha256", "hostname", "cpu.model", "cpu.count")
_FINGERPRINT_DIGITS = 8


class HostPoint(Frozen):
    """The machine that carried the systems; ``fingerprint`` is the same while it is the same one.

    It is made of the machine's identifier and name and of its processors, not of its kernel, whose
    update is a change of the same host.
    """

    fingerprint: str
    name: str | None
    cpu: str | None
    processors: str | None
    kernel: str | None


class ComparisonPoint(Frozen):
    """One comparison of a primary response; ``where`` is ``None`` over all conditions.

    ``low_log`` and ``high_log`` belong to the word. ``side`` is the most with which equal systems
    are called slower, and with which either end of ``whole_low_log`` to ``whole_high_log`` errs.
    """

    key: str
    workload: str | None
    response: ResponseFinding
    baseline: str
    other: str
    where: str | None
    word: VerdictWord
    words: tuple[VerdictWord, ...]
    estimate_log: float | None
    low_log: float | None
    high_log: float | None
    margin_log: float
    visits: int
    side: float
    whole_low_log: float | None
    whole_high_log: float | None

    @property
    def title(self) -> str:
        """What is compared, as a person picks it from a list."""
        of = f"{self.workload}: " if self.workload else ""
        return f"{of}{self.other} against {self.baseline}, {self.where or 'over all conditions'}"


class RunPoint(Frozen):
    """All that a history and a pair of runs need of one run.

    ``reference_kernel`` holds medians over visits by part, each a rate. ``differing_facts`` are
    those that are not the same of all that the run compares, with their values.
    """

    run: str
    study: str
    study_sha256: str
    question: str
    variant: str | None
    created_unix_ns: int
    tool_version: str
    stop: str
    systems: tuple[str, ...]
    host: HostPoint | None
    tested: dict[str, dict[str, tuple[str, ...]]]
    comparisons: tuple[ComparisonPoint, ...]
    reference_kernel: dict[str, float]
    is_randomised: bool
    differing_facts: dict[str, dict[str, str | None]] = Field(default_factory=dict)

    def comparison(self, key: str) -> ComparisonPoint | None:
        return next((each for each in self.comparisons if each.key == key), None)


def point_of(facts: RunFacts, findings: RunFindings, records: Sequence[TrialRecord]) -> RunPoint:
    """The point of one run."""
    return RunPoint(
        run=findings.run,
        study=findings.study,
        study_sha256=findings.study_sha256,
        question=findings.question,
        variant=findings.variant,
        created_unix_ns=facts.created_unix_ns,
        tool_version=findings.tool_version,
        stop=findings.stop.reason,
        systems=findings.systems,
        host=_host(records),
        tested=findings.tested,
        comparisons=tuple(
            _comparison(verdict, own, findings)
            for own in findings.workloads
            for verdict in own.verdicts
            if not verdict.exploratory and verdict.response in _primary(own)
        ),
        reference_kernel=_reference_kernel(records),
        is_randomised=findings.design in get_args(Design),
        differing_facts={each.fact: dict(each.values) for each in findings.differences},
    )


def _primary(own: WorkloadFindings) -> dict[str, ResponseFinding]:
    return {each.name: each for each in own.responses if each.primary}


def _comparison(
    verdict: VerdictFinding, own: WorkloadFindings, run: RunFindings
) -> ComparisonPoint:
    several = len(run.workloads) > 1
    where = (
        None
        if verdict.conditions is None
        else run.labels.conditions(verdict.conditions) or "all trials"
    )
    low_log, high_log = verdict.low_log, verdict.high_log
    if verdict.word is VerdictWord.EQUIVALENT:  # the interval that belongs to this word
        low_log, high_log = verdict.equivalence_low_log, verdict.equivalence_high_log
    parts = (own.name if several else "", verdict.response, verdict.baseline, verdict.other)
    return ComparisonPoint(
        key="|".join((*parts, where or "")),
        workload=own.name if several else None,
        response=_primary(own)[verdict.response],
        baseline=verdict.baseline,
        other=verdict.other,
        where=where,
        word=verdict.word,
        words=verdict.words,
        estimate_log=verdict.estimate_log,
        low_log=low_log,
        high_log=high_log,
        margin_log=verdict.margin_log,
        visits=verdict.n_baseline + verdict.n_other,
        side=(1 - verdict.interval_level) / 2,
        whole_low_log=verdict.low_log,
        whole_high_log=verdict.high_log,
    )


def _host(records: Sequence[TrialRecord]) -> HostPoint | None:
    """That of the first trial which has one: of guests the host, else the system's own machine."""
    facts = next(filter(None, map(_host_facts, records)), None)
    if facts is None:
        return None
    text = "\n".join(f"{name}={facts.get(name)}" for name in _IDENTITY)
    return HostPoint(
        fingerprint=hashlib.sha256(text.encode()).hexdigest()[:_FINGERPRINT_DIGITS],
        name=facts.get("hostname"),
        cpu=facts.get("cpu.model"),
        processors=facts.get("cpu.count"),
        kernel=facts.get("kernel.release"),
    )


def _host_facts(record: TrialRecord) -> Mapping[str, str | None] | None:
    return record.facts.get("host") or record.facts.get("system")


def _reference_kernel(records: Sequence[TrialRecord]) -> dict[str, float]:
    values: dict[str, list[float]] = defaultdict(list)
    for part, log in _parts(records):
        values[part].append(math.exp(log))
    return {part: median(of) for part, of in values.items()}


def _parts(records: Sequence[TrialRecord]) -> Iterator[tuple[str, float]]:
    for parts in measured_before(records).values():
        yield from parts.items()
