"""Exports in the forms of other programs hold the figures of the findings."""

from __future__ import annotations

import json
import re

import pytest
from tests.golden.report_examples import CASES
from tests.golden.report_findings import changed, findings
from tests.unit.judge.several_workloads import judged
from tests.unit.judge.test_capacity import findings as searched

from steelyard.judge.findings import RunFindings
from steelyard.report.formats.other_tools import BETTER, action_text, benchfmt_text, bmf_text

LINE = re.compile(r"Benchmark[A-Z]\S* 1 (\S+) (\S+)")
"""As golang.org/design/14313-benchmark-format has it."""


def medians(run: RunFindings) -> list[float]:
    cells = [cell for own in run.workloads for cell in own.cells]
    return [cell.median for cell in cells if cell.median is not None]


def results(run: RunFindings) -> list[tuple[float, str]]:
    lines = [line for line in benchfmt_text(run).splitlines() if line.startswith("Benchmark")]
    found = [LINE.fullmatch(line) for line in lines]
    assert all(found)
    return [(float(match[1]), match[2]) for match in found if match]


@pytest.mark.parametrize("case", CASES)
def test_bencher_gets_the_median_of_every_cell_and_response(case: str) -> None:
    run = CASES[case]()
    found = json.loads(bmf_text(run))
    metrics = [metric for measures in found.values() for metric in measures.values()]
    assert sorted(metric["value"] for metric in metrics) == sorted(medians(run))
    for metric in metrics:
        assert metric.get("lower_value", metric["value"]) <= metric["value"]
        assert metric.get("upper_value", metric["value"]) >= metric["value"]


@pytest.mark.parametrize("case", CASES)
def test_benchstat_gets_a_line_for_every_value(case: str) -> None:
    run = CASES[case]()
    cells = [cell for own in run.workloads for cell in own.cells if cell.median is not None]
    assert len(results(run)) == sum(len(cell.values) for cell in cells)


def test_the_largest_load_of_a_search_is_a_measure_of_its_system() -> None:
    fast, _ = searched().workloads[0].capacities
    told = json.loads(bmf_text(searched()))["system=fast"]["capacity-users"]
    assert told == {"value": fast.median, "lower_value": fast.low, "upper_value": fast.high}
    bigger = json.loads(action_text(searched(), BETTER["bigger"]))
    assert [each["value"] for each in bigger if each["name"] == "system=fast capacity"] == [
        told["value"]
    ]
    assert [value for value, measure in results(searched()) if measure == "capacity-users"][
        : len(fast.values)
    ] == list(fast.values)


def test_values_of_searches_are_left_out_where_some_held_the_largest_load() -> None:
    run = searched(most=41.0)
    fast, durable = run.workloads[0].capacities
    assert fast.median is not None
    told = [value for value, measure in results(run) if measure == "capacity-users"]
    assert told == list(durable.values)


def test_a_time_is_in_nanoseconds_whatever_its_unit_was() -> None:
    run = findings()
    own = run.workloads[0]
    first = own.responses[0].model_copy(update={"unit": "ms"})
    cells = [cell for cell in own.cells if cell.response == first.label]
    timed = changed(run, responses=(first,), cells=tuple(cells))
    assert {measure for _, measure in results(timed)} == {f"{first.name}-ns"}
    values = [value * 1e6 for cell in cells for value in cell.values]
    assert [value for value, _ in results(timed)] == pytest.approx(values)


def test_a_history_of_either_direction_has_the_responses_of_that_direction_alone() -> None:
    run = findings()
    directions = {each.name: each.direction for each in run.workloads[0].responses}
    for better in BETTER.values():
        for row in json.loads(action_text(run, better)):
            assert directions[row["name"].rpartition(" ")[2]] == better
            assert row["value"] in medians(run)


def test_cells_of_several_workloads_have_names_of_their_own() -> None:
    found = json.loads(bmf_text(judged()))
    assert len(found) == len(set(found)) > 1
    assert all(name.startswith("workload=") for name in found)
