"""What each machine used of its processors in one trial: host, guest, generator."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from steelyard.judge.analyses.resources.readings import RESOURCES, readings
from steelyard.records.attempt_folder import samples_file
from steelyard.records.counters import EARLIER_ENDING, ENDING, counters_of
from steelyard.records.schema import TrialRecord
from steelyard.web.live.progress import CpuUse
from steelyard.web.reading import MOST_FILE_BYTES, refuse_large

_WHOLE_MACHINE = {"system_cpu", "host_cpu", "generator_cpu"}


def cpu_of(record: TrialRecord, folder: Path) -> tuple[CpuUse, ...]:
    """Means over the samples of the trial; machines that were not sampled are left out."""
    return tuple(_uses(record, folder))


def _uses(record: TrialRecord, folder: Path) -> Iterator[CpuUse]:
    for resource in RESOURCES:
        if resource.name not in _WHOLE_MACHINE:
            continue
        now = samples_file(resource.machine)
        names = (now, now.removesuffix(ENDING) + EARLIER_ENDING)
        path = next((folder / name for name in names if name in record.files), None)
        if path is None:
            continue
        try:
            refuse_large(path, MOST_FILE_BYTES)
            found = readings(counters_of(path.read_bytes(), path.name), resource)
        except Exception:  # noqa: BLE001, S112 - torn samples say nothing of the trial
            continue
        if found is not None:
            count = record.facts.get(resource.machine, {}).get("cpu.count")
            processors = float(count) if count is not None and count.isdigit() else None
            cores = float(found.values.mean())
            # Counters grow in steps: a little more than there is means all of it.
            yield CpuUse(resource.machine, min(cores, processors or cores), processors)
