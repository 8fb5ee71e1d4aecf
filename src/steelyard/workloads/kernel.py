"""From a workload that computes to a command of the engine, and from its document to responses.

Pure. Their schemas: ``schemas/linpack-result.schema.json``, ``schemas/ram-result.schema.json``.
"""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median
from typing import Any

from steelyard.records.schema import Measured

ENGINE = "@engine"
"""Stands for the path of the engine on the machine that computes."""

_ARRAYS = frozenset({"copy", "scale", "add", "triad"})
_UNITS = {
    "linpack.rate": "GFLOP/s",
    "linpack.time": "ns",
    "linpack.residual": "ratio",
    "ram.rate": "bytes/s",
}


def kernel_command(use: str, settings: Mapping[str, Any]) -> list[str]:
    """The command that computes ``linpack`` or ``ram`` once and prints its document."""
    computes = {"linpack": _linpack, "ram": _ram}[use]
    usual = {"--threads": settings["threads"], "--repeat": settings["repeats"]}
    options = computes(settings) | usual
    spelt = [word for name, value in options.items() for word in (name, str(value))]
    return [ENGINE, "kernel", use, *spelt, "--json"]


def _linpack(settings: Mapping[str, Any]) -> dict[str, Any]:
    return {"--size": settings["n"]}


def _ram(settings: Mapping[str, Any]) -> dict[str, Any]:
    operation, blocks = settings["operation"], settings["blocks"]
    one_block = {"--smallest-block": blocks, "--largest-block": blocks}
    sizes = {"--array": blocks} if operation in _ARRAYS else one_block
    stores = settings.get("stores")
    chosen = {} if stores is None else {"--stores": stores}
    return {"--element": settings["test"], "--operation": operation} | sizes | chosen


def kernel_responses(document: Mapping[str, Any]) -> dict[str, Measured]:
    """What the document of a command says: numbers, or the reasons why there are none.

    A command measures one size of one operation; of more, the first counts.
    """
    read = {"steelyard.kernel.linpack/1": _solved, "steelyard.kernel.ram/1": _moved}
    return read[document["schema"]](document)


def _solved(document: Mapping[str, Any]) -> dict[str, Measured]:
    solutions = document["solutions"][0]
    repeats = solutions["repeats"]
    why = _why_none(document, "a residual was too large, or the matrix singular")
    rate = solutions["gflops_per_s"]
    times_s = [repeat["seconds"] for repeat in repeats]
    residuals = [repeat["scaled_residual"] for repeat in repeats]
    worst = None if None in residuals else max(residuals, default=None)
    return {
        "linpack.rate": _measured("linpack.rate", rate and rate["median"], why),
        "linpack.time": _measured("linpack.time", median(times_s) * 1e9 if times_s else None, why),
        "linpack.residual": _measured("linpack.residual", worst, why),
    }


def _moved(document: Mapping[str, Any]) -> dict[str, Measured]:
    why = _why_none(document, "the memory did not hold what was written to it")
    rates = [passes["bytes_per_s"] for passes in document["passes"]]
    rate = rates[0]["median"] if rates and rates[0] else None
    return {"ram.rate": _measured("ram.rate", rate, why)}


def _why_none(document: Mapping[str, Any], wrong: str) -> str | None:
    """Why nothing of ``document`` counts, if so: half a measurement is none."""
    if document["interrupted"]:
        return "it was interrupted"
    return None if document["valid"] else wrong


def _measured(name: str, value: float | None, why: str | None) -> Measured:
    if why is None and value is None:
        why = "it was not measured"
    return Measured(value=None if why else value, unit=_UNITS[name], missing=why)
