"""Studies whose systems stay up side by side: which are refused, and TLS as the service has it."""

from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.errors import StudyError
from steelyard.plan.design import cells
from steelyard.study.bind import bind
from steelyard.study.model import Study
from steelyard.study.read import read_study

STUDY = """\
study: beside
question: Is one faster?
systems:
  one: {platform: native, service: {use: sink-http, tls: none}}
  two: {platform: native, service: {use: sink-http, tls: implicit}}
workload: {use: http, tls: as the service}
load: {users: [1, 2]}
trials: {margin: 5 %, window: 200 ms, warmup: 50 ms, reset: none}
"""


def study_of(folder: Path, text: str) -> Study:
    (folder / "study.yaml").write_text(text, encoding="utf-8")
    return read_study(folder)


def test_systems_stay_up_where_the_study_asks_for_no_reset(tmp_path: Path) -> None:
    assert study_of(tmp_path, STUDY).trials.systems_stay_up
    assert not study_of(
        tmp_path, STUDY.replace("reset: none", "reset: service")
    ).trials.systems_stay_up


def test_a_workload_speaks_tls_as_the_service_of_each_system_does(tmp_path: Path) -> None:
    study = study_of(tmp_path, STUDY)
    spoken = {cell.system: bind(study, cell).workload.settings["tls"] for cell in cells(study)}
    assert spoken == {"one": "none", "two": "implicit"}


REFUSED = {
    "a reset of its own": ("  one: {platform", "  one: {reset: process, platform"),
    "a setting of the machine": (
        "  one: {platform",
        "  one: {host_settings: {sysctl: {vm.swappiness: 10}}, platform",
    ),
    "a factor that changes the systems": (
        "\nload:",
        "\nfactors: {service.body: [1 KiB, 2 KiB]}\nload:",
    ),
    "a workload that is no load": ("{use: http, tls: as the service}", "{command: [sleep, 1]}"),
}


@pytest.mark.parametrize("change", REFUSED)
def test_systems_that_cannot_stand_side_by_side_are_refused_at_the_reset(
    tmp_path: Path, change: str
) -> None:
    before, after = REFUSED[change]
    assert before in STUDY
    text = STUDY.replace(before, after)
    if "command" in after:
        text = text.replace("load: {users: [1, 2]}\n", "")
    with pytest.raises(StudyError) as caught:
        study_of(tmp_path, text)
    refused = [each for each in caught.value.complaints if "side by side" in each.message]
    assert refused
    line = text.splitlines()[refused[0].line - 1]
    assert "reset: none" in line
