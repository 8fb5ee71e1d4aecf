"""What a study can measure: the standard responses, and the metrics of its tools."""

from __future__ import annotations

from collections.abc import Iterable

from steelyard.study import catalogue
from steelyard.study.model import Study
from steelyard.study.response import Response
from steelyard.study.workload.entry import Workload, response_of
from steelyard.study.workload.own import workload_of


def responses_of(entries: Iterable[Workload]) -> dict[str, Response]:
    """Every response by its name where these workloads are driven."""
    known = dict(catalogue.responses())
    for entry in entries:
        for name, metric in entry.metrics.items():
            known.setdefault(name, response_of(metric, None))
    return known


def responses_in(study: Study) -> dict[str, Response]:
    """Every response that a study can have."""
    return responses_of(workload_of(spec) for spec in study.workloads.values())
