"""Whether all systems of a study can stay up side by side, as ``reset: none`` wants."""

from __future__ import annotations

from collections.abc import Iterator

from steelyard.study.file.complaints import Complaints
from steelyard.study.lookup import workload_of
from steelyard.study.model import Study
from steelyard.study.platform.settings import SharedSettings
from steelyard.study.workload_study import studies

_PLACE: tuple[str, str] = ("trials", "reset")
_LOAD = ("load.", "workload.")
_HINT = "write another `reset`, as `reset: service`"


def check_systems_beside(study: Study, complaints: Complaints) -> None:
    """Adds one complaint for each thing that only one system at a time can have."""
    if study.trials.systems_stay_up:
        for reason in _reasons(study):
            complaints.add(_PLACE, f"systems cannot stay up side by side: {reason}", _HINT)


def _reasons(study: Study) -> Iterator[str]:
    yield from _of_systems(study)
    for one in studies(study):
        yield from (
            f"`{factor}` changes the systems from one trial to the next"
            for factor in one.factors
            if not factor.startswith(_LOAD)
        )
        if not workload_of(one.workload).is_load:
            yield f"`{one.workload.use}` prepares files for each trial"
    if study.compare.startswith(("settings.", "host_settings.")):
        yield f"`{study.compare}` is a setting of the machine that all are on"
    if study.screen is not None:
        yield "a screening changes the system"
    if len(study.workloads) > 1 or study.scenarios:
        yield "there are several workloads"


def _of_systems(study: Study) -> Iterator[str]:
    for name, system in study.systems.items():
        if system.reset is not None:
            yield f"`{name}` has a reset of its own"
        if system.outside or system.inside:
            yield f"settings of `{name}` would hold for the others, too"
    urls = [disk["url"] for system in study.systems.values() for disk in system.disks.values()]
    for url in {url for url in urls if url is not None and urls.count(url) > 1}:
        yield f"more than one would write to `{url}`"
    networks = {
        (system.host_machine, SharedSettings.of(system.settings).network)
        for system in study.systems.values()
    }
    if len(networks) > 1 and any(network == "lab" for _, network in networks):
        yield "they are on different networks"
