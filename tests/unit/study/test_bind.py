"""The levels of a cell end up where their dotted names say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from steelyard.plan.model import Cell
from steelyard.study.bind import BoundCell, bind
from steelyard.study.model import Level, Study
from steelyard.study.read import read_study

TEXT = """\
study: levels
question: Where do levels go?
systems:
  guest:
    platform: qemu
    image: debian-minimal
    instances: 3
    settings: {sysctl: {vm.swappiness: 60}}
    disks: {data: {count: 2, size: 1 GiB}}
    service: {use: sink-http}
compare: settings.tuned
baseline: "off"
factors:
  settings.tuned: ["off", balanced]
  settings.sysctl.vm.dirty_ratio: [10, 20]
  host_settings.scheduler: [bfq, none]
  disks.data.layout: [single, raid0]
  system.cpus: [1, 2]
workload: {use: http}
background: {2: {use: idle}}
trials: {margin: 5 %}
"""


@pytest.fixture
def study(tmp_path: Path) -> Study:
    path = tmp_path / "study.yaml"
    path.write_text(TEXT)
    return read_study(path)


def bound(study: Study, level: str, **conditions: Level) -> BoundCell:
    return bind(study, Cell(system=level, conditions={"load.users": 1, **conditions}))


def test_the_compared_level_is_put_in_place_like_any_other(study: Study) -> None:
    assert bound(study, "balanced").system.inside["tuned"] == "balanced"
    assert bound(study, "off").system.inside["tuned"] == "off"


@pytest.mark.parametrize(
    ("factor", "level", "part", "expected"),
    [
        (
            "settings.sysctl.vm.dirty_ratio",
            10,
            "inside",
            {"tuned": "off", "sysctl.vm.swappiness": "60", "sysctl.vm.dirty_ratio": 10},
        ),
        ("host_settings.scheduler", "bfq", "outside", {"scheduler": "bfq"}),
    ],
)
def test_a_setting_of_a_machine_joins_those_that_the_system_declares(
    study: Study, factor: str, level: Level, part: str, expected: dict[str, Any]
) -> None:
    assert getattr(bound(study, "off", **{factor: level}).system, part) == expected


def test_platform_and_disk_take_their_levels(study: Study) -> None:
    system = bound(study, "off", **{"system.cpus": 2, "disks.data.layout": "raid0"}).system
    assert system.settings["cpus"] == 2
    assert system.disks["data"]["layout"] == "raid0"
    assert system.disks["data"]["count"] == 2


def test_the_number_of_instances_is_a_factor_of_its_own(study: Study) -> None:
    assert bound(study, "off", **{"system.instances": 1}).system.instances == 1
    assert "instances" not in bound(study, "off", **{"system.instances": 1}).system.settings


def test_an_instance_that_is_named_beside_runs_something_else(study: Study) -> None:
    cell = bound(study, "off")
    assert [cell.workload_of(number).use for number in (1, 2, 3)] == ["http", "idle", "http"]


def test_a_numeric_level_that_is_compared_stays_a_number(study: Study) -> None:
    by_cpus = study.model_copy(update={"compare": "system.cpus", "compared": (1, 2), "names": ()})
    assert bound(by_cpus, "2").system.settings["cpus"] == 2
