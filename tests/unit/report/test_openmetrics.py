"""The exposition as a parser of the format reads it."""

from __future__ import annotations

import math

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families
from tests.golden.report_examples import CASES
from tests.golden.report_findings import changed, findings
from tests.unit.judge.several_workloads import judged
from tests.unit.judge.test_capacity import findings as searched

from steelyard.judge.findings import RunFindings
from steelyard.report.formats.openmetrics import openmetrics_text

Samples = dict[str, list[tuple[dict[str, str], float]]]


def samples(run: RunFindings) -> Samples:
    found: Samples = {}
    for family in text_string_to_metric_families(openmetrics_text(run)):
        for sample in family.samples:
            found.setdefault(sample.name, []).append((dict(sample.labels), float(sample.value)))
    return found


@pytest.mark.parametrize("case", CASES)
def test_a_parser_of_the_format_takes_every_report(case: str) -> None:
    run = CASES[case]()
    ((labels, one),) = samples(run)["steelyard_run_info"]
    assert (labels["study"], labels["run"], one) == (run.study, run.run, 1.0)


def test_medians_and_effects_are_those_of_the_findings() -> None:
    run, found = findings(), samples(findings())
    own = run.workloads[0]
    cells = [cell for cell in own.cells if cell.median is not None]
    assert [value for _, value in found["steelyard_response_median"]] == [c.median for c in cells]
    logs = [v.estimate_log for v in own.verdicts if v.estimate_log is not None]
    ratios = [math.log(value) for _, value in found["steelyard_effect_ratio"]]
    assert ratios == pytest.approx(logs)


def test_largest_loads_of_searches_are_there_with_their_comparison() -> None:
    own, found = searched().workloads[0], samples(searched())
    assert [value for _, value in found["steelyard_capacity_median"]] == [
        each.median for each in own.capacities
    ]
    words = [
        labels["steelyard_verdict"]
        for labels, holds in found["steelyard_verdict"]
        if holds == 1 and labels["response"] == "capacity"
    ]
    assert words == [each.word.value for each in own.capacity_verdicts]


def test_one_word_holds_of_each_comparison() -> None:
    run = findings()
    held = [
        labels["steelyard_verdict"]
        for labels, value in samples(run)["steelyard_verdict"]
        if value == 1
    ]
    assert held == [verdict.word.value for verdict in run.workloads[0].verdicts]


def test_an_end_that_is_not_bounded_has_no_sample() -> None:
    verdict = findings().workloads[0].verdicts[0].model_copy(update={"high_log": None})
    found = samples(changed(findings(), verdicts=(verdict,)))
    assert "steelyard_effect_ratio_low" in found
    assert "steelyard_effect_ratio_high" not in found


def test_workloads_are_distinguished_by_a_label() -> None:
    labels = [labels for labels, _ in samples(judged())["steelyard_response_median"]]
    assert {each["workload"] for each in labels} == {"cpu", "disk"}
