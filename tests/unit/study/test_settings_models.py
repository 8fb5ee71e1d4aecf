"""Settings that code reads by name are declared by the catalogue, with the kinds that it reads."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from steelyard.errors import StudyError
from steelyard.study import catalogue
from steelyard.study.checks.load_per_minute import OPERATIONS_OF_A_CONNECTION
from steelyard.study.declared.setting import Setting
from steelyard.study.ending import COUNTS
from steelyard.study.lookup import WORKLOAD_FILES
from steelyard.study.platform.settings import DRIVEN_SETTINGS
from steelyard.study.platform.settings import SharedSettings as OfPlatforms
from steelyard.study.service.entry import SERVICE_SETTINGS
from steelyard.study.service.entry import SharedSettings as OfServices
from steelyard.study.settings import SettingsModel, model_mistakes
from steelyard.study.workload.settings import ENGINE_SETTINGS, HttpSettings
from steelyard.study.workload.settings import SharedSettings as OfWorkloads
from steelyard.trial.session_state.calibrate import LOADS


def declared(shelf: catalogue.Shelf) -> set[str]:
    load = {
        "workloads": catalogue.workload,
        "platforms": catalogue.platform,
        "services": catalogue.service,
    }[shelf]
    return {name for entry in catalogue.names(shelf) for name in load(entry).settings}


@pytest.mark.parametrize(
    ("model", "shelf"),
    [(OfWorkloads, "workloads"), (OfPlatforms, "platforms"), (OfServices, "services")],
)
def test_every_shared_setting_is_declared_by_some_file(
    model: type[SettingsModel], shelf: catalogue.Shelf
) -> None:
    assert set(model.model_fields) - declared(shelf) == set()


@pytest.mark.parametrize("names", [COUNTS, OPERATIONS_OF_A_CONNECTION, LOADS])
def test_settings_that_are_named_in_lists_are_fields_of_the_model(names: Iterable[str]) -> None:
    assert set(names) - set(OfWorkloads.model_fields) == set()


def test_every_model_is_of_a_file_that_there_is() -> None:
    assert set(ENGINE_SETTINGS) <= set(catalogue.names("workloads"))
    assert set(DRIVEN_SETTINGS) <= set(catalogue.names("platforms"))
    assert set(SERVICE_SETTINGS) <= set(catalogue.names("services"))


def test_a_setting_that_is_renamed_in_the_file_is_a_mistake_of_the_file() -> None:
    settings = dict(catalogue.workload("http").settings)
    settings["uri"] = settings.pop("path")
    found = list(model_mistakes(HttpSettings, settings, whole=True))
    assert [mistake.where for mistake in found] == [("settings", "path")]


@pytest.mark.parametrize(
    "changed",
    [Setting(kind="flag", default=False, meaning="a path"), Setting(kind="text", meaning="a path")],
    ids=["another kind", "no default"],
)
def test_a_setting_that_the_code_cannot_read_is_a_mistake_of_the_file(changed: Setting) -> None:
    settings = catalogue.workload("http").settings | {"path": changed}
    found = list(model_mistakes(HttpSettings, settings, whole=True))
    assert [mistake.where for mistake in found] == [("settings", "path")]


def test_a_default_that_differs_from_the_models_is_a_mistake_of_the_file() -> None:
    qemu, declared = DRIVEN_SETTINGS["qemu"], catalogue.platform("qemu").settings
    changed = declared["nic"].model_copy(update={"default": "e1000"})
    found = list(model_mistakes(qemu, declared | {"nic": changed}, whole=True))
    assert [mistake.where for mistake in found] == [("settings", "nic")]


def test_a_file_of_the_users_own_is_held_to_the_kinds_of_shared_settings() -> None:
    text = """\
summary: Counts.
operation: counts
primary: run_time
ends: by itself
command: [count, "{total}"]
settings:
  total: {kind: text, default: much, meaning: how far}
"""
    with pytest.raises(StudyError) as refused:
        WORKLOAD_FILES.parse(text.encode(), Path("mine.yaml"))
    (complaint,) = refused.value.complaints
    assert (complaint.line, "total" in complaint.message) == (7, True)
