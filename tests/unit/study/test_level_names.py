"""Compared levels are called what their author would write."""

from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.plan.design import as_planned, compared
from steelyard.plan.make import make_plan
from steelyard.study.bind import bound_system
from steelyard.study.model import Study
from steelyard.study.read import read_study

TEXT = """
study: levels
question: q?
systems: {{web: {{platform: native, service: {{use: sink-http}}}}}}
factors: {{{factor}: {levels}}}
compare: {factor}
baseline: {baseline}
workload: {{use: http}}
load: {{users: 1}}
claims: [{{id: c, system: {other}, response: throughput, slower_than: {baseline}}}]
trials: {{margin: 20 %, window: 1 s, budget: {{trials: 8 per cell}}}}
"""


def a_study(folder: Path, factor: str, levels: str, baseline: str, other: str) -> Study:
    path = folder / "study.yaml"
    path.write_text(TEXT.format(factor=factor, levels=levels, baseline=baseline, other=other))
    return read_study(path)


@pytest.mark.parametrize(("baseline", "other"), [("64 KiB", "1 KiB"), ("65536", "1024")])
def test_levels_with_a_unit_have_it_in_their_name_however_they_are_referred_to(
    tmp_path: Path, baseline: str, other: str
) -> None:
    study = a_study(tmp_path, "service.body", "[1 KiB, 64 KiB]", baseline, other)
    assert compared(study) == ("64 KiB", "1 KiB")
    assert study.named == {"1 KiB": 1024, "64 KiB": 65536}
    assert (study.claims[0].subject, study.claims[0].other) == ("1 KiB", "64 KiB")


def test_a_level_is_bound_by_its_name(tmp_path: Path) -> None:
    study = a_study(tmp_path, "service.delay", "[0 s, 5 ms]", "5 ms", "0")
    cells = {t.cell.system: t.cell for v in make_plan(study, 1).visits for t in v.trials}
    delays = {}
    for name, cell in cells.items():
        service = bound_system(study, cell).service
        assert service is not None
        delays[name] = service.settings["delay"]
    assert delays == dict(study.named.items())
    assert set(cells) == {"0", "5 ms"}


def test_a_plan_of_an_earlier_version_keeps_its_numbers(tmp_path: Path) -> None:
    study = a_study(tmp_path, "service.body", "[1 KiB, 64 KiB]", "1 KiB", "64 KiB")
    old = as_planned(study, ("1024", "65536"))
    assert (old.baseline, list(old.named)) == ("1024", ["1024", "65536"])
    assert (old.claims[0].subject, old.claims[0].other) == ("65536", "1024")
    assert as_planned(study, compared(study)) is study
