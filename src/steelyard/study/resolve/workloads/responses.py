"""The part of a study that says what counts: responses, gates, limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from steelyard import units
from steelyard.study.declared import responses as declared
from steelyard.study.declared.responses import Response
from steelyard.study.file.complaints import Complaints, nearest
from steelyard.study.file.grammar import ResponsePart, StudyFile
from steelyard.study.file.kinds import Limit
from steelyard.study.file.source import Where
from steelyard.study.lookup import known_workload
from steelyard.study.model import (
    FindSpec,
    GateSpec,
    ResponseSpec,
    WorkloadSpec,
)
from steelyard.study.resolve.entries import responses_for

_KINDS: dict[str, units.Kind] = {
    "ratio": "share",
    "ns": "duration",
    "s": "duration",
    "bytes": "size",
}
_TIMES = ("ns", "s")
_SCALES = {"ns": 1e9}


def read_responses(  # noqa: PLR0917 - what is written, where, and all that it is read against
    written: Mapping[str, ResponsePart],
    shared: Sequence[str],
    where: Where,
    workload: WorkloadSpec,
    file: StudyFile,
    complaints: Complaints,
) -> dict[str, ResponseSpec]:
    """Those of one workload as written at ``where``, then those that it shares with others.

    Exactly one is primary: without a mark the workload's own, put first when it was not named.
    """
    for name in written:
        check_response(name, (*where, name), file, complaints)
    there = responses_for(file, complaints)
    known = [name for name in written if name in there]
    marked = [name for name in known if written[name].primary]
    for extra in marked[1:]:
        hint = f"one response decides, `{marked[0]}` is marked too: keep one mark"
        message = "more than one response is marked primary"
        complaints.add((*where, extra), message, hint, at_key=True)
    primary = marked[0] if marked else _default_primary(workload)
    _check_primary(primary, there[primary], (*where, primary), complaints)
    names = list(dict.fromkeys([*known, *shared]))
    names = names if primary in names else [primary, *names]
    operation = workload.operation
    return {
        name: declared.response_spec(
            name, there[name], operation=operation, primary=name == primary
        )
        for name in names
    }


def _default_primary(workload: WorkloadSpec) -> str:
    entry = known_workload(workload)
    return "throughput" if entry is None else entry.primary


def check_response(
    name: str, where: Where, file: StudyFile, complaints: Complaints, *, at_key: bool = True
) -> bool:
    """Whether this is a response that the study can have; complains when it is not."""
    known = responses_for(file, complaints)
    entry = known.get(name)
    if entry is None:
        hint = _response_hint(name, known)
        complaints.add(where, f"there is no response `{name}`", hint, at_key=at_key)
        return False
    if entry.source == "probe" and file.latency_probe is None:
        hint = "add `latency_probe: {use: smtp-probe, every: 100 ms}`, or take it out"
        complaints.add(
            where, f"`{name}` needs a latency probe, and there is none", hint, at_key=at_key
        )
    return True


def _response_hint(name: str, known: Mapping[str, Response]) -> str:
    near = nearest(name, known)
    meant = f"did you mean `{near}`? " if near else ""
    statistics = ", ".join(declared.statistics())
    listed = [*declared.families(), *(n for n, entry in known.items() if entry.source == "tool")]
    return f"{meant}responses: {', '.join(listed)}; * is one of {statistics}"


def _check_primary(primary: str, entry: Response, where: Where, complaints: Complaints) -> None:
    if entry.direction == "none":
        hint = "it has no better direction; mark another response"
        complaints.add(where, f"`{primary}` cannot be primary", hint, at_key=True)
    elif entry.may_be_zero:
        hint = f"it may be zero, and zero has no ratio; use `gates: {{{primary}: ...}}` for it"
        complaints.add(where, f"`{primary}` cannot be primary", hint, at_key=True)


def resolve_gates(
    written: Mapping[str, Limit], where: Where, file: StudyFile, complaints: Complaints
) -> dict[str, GateSpec]:
    """Limits by response, in the unit of the response."""
    gates = {}
    for name, limit in written.items():
        place = (*where, name)
        if not check_response(name, place, file, complaints):
            continue
        unit = responses_for(file, complaints)[name].unit
        try:
            value = _in_unit(limit.quantity, unit)
        except units.UnitError as error:
            complaints.add(place, f"`{name}`: {error.message}", error.hint)
            continue
        kind = "at_most" if limit.side == "most" else "at_least"
        _check_limit(name, kind, value, responses_for(file, complaints)[name], place, complaints)
        text = f"at {limit.side} {limit.quantity}" if value else "none"
        fields = {"name": name, "kind": kind, kind: value, "unit": unit, "text": text}
        gates[name] = GateSpec.model_validate(fields)
    return gates


def _check_limit(  # noqa: PLR0917 - what is limited, how, and where that is written
    name: str, kind: str, value: float, entry: Response, where: Where, complaints: Complaints
) -> None:
    """A limit is one that figures may keep, and may miss."""
    is_time = entry.unit in _TIMES and not entry.may_be_zero
    is_share = entry.unit == "ratio" and entry.direction == "lower" and entry.may_be_zero
    if kind == "at_most" and value <= 0 and is_time:
        hint = "write a time above zero, as `at most 50 ms`"
        complaints.add(where, f"`{name}` is a time, which is never zero", hint)
    elif value > 1 and is_share:
        hint = "write a share of at most 100 %, as `at most 1 %`"
        complaints.add(where, f"`{name}` is a share, and none is above 100 %", hint)


def _in_unit(quantity: str, unit: str) -> float:
    value = units.parse(quantity, _KINDS.get(unit, "number"))
    return float(value) * _SCALES.get(unit, 1.0)


def resolve_find(file: StudyFile, complaints: Complaints) -> dict[str, FindSpec]:
    """What is looked for besides: the largest load that keeps its limits."""
    found = {}
    for name, limits in (file.find or {}).items():
        gates = resolve_gates(limits, ("find", name), file, complaints)
        found[name] = FindSpec(name=name, limits=tuple(gates.values()))
    return found
