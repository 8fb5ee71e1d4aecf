"""What several generators can drive together: loads of the engine that can be divided."""

from __future__ import annotations

from collections.abc import Iterator

from steelyard.study.file.complaints import Complaints
from steelyard.study.file.source import Where
from steelyard.study.lookup import workload_of
from steelyard.study.model import Study

_UNDIVIDED = frozenset({"tcp-stream", "udp-stream", "delivery"})
"""The far end of a stream knows one near end; a delivery is watched by the one who sent it."""
_HINT = "name one machine as `host`"


def check_generators(study: Study, complaints: Complaints) -> None:
    """Adds one complaint for each thing that only one generator can drive."""
    if study.generator.further:
        for where, what in _undivided(study):
            message = f"{what} cannot come from several generators"
            complaints.add(where, message, _HINT, at_key=True)


def _undivided(study: Study) -> Iterator[tuple[Where, str]]:
    for name, workload in study.workloads.items():
        where: Where = ("workload",) if len(study.workloads) == 1 else ("workloads", name)
        if not workload_of(workload).is_load:
            yield where, f"what `{workload.use}` does"
        elif workload.use in _UNDIVIDED:
            yield where, f"the load of `{workload.use}`"
    if study.find:
        yield ("find",), "a search"
    if study.scenarios:
        yield ("scenarios",), "the workloads of scenarios"
    if study.background:
        yield ("background",), "a background workload"
