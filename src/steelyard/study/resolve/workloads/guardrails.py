"""What a system may not be worse in where it is called faster."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from steelyard.study.declared.responses import Response
from steelyard.study.file.complaints import Complaints
from steelyard.study.file.grammar import StudyFile
from steelyard.study.model import BYTES, GuardrailSpec, ResponseSpec
from steelyard.study.resolve.entries import responses_for
from steelyard.study.resolve.workloads.responses import check_response

ERRORS, TAIL = "errors", "response.p99"
DEFAULTS = {ERRORS: 0.001, TAIL: 0.25}
"""Failures may rise by 0.1 % of all operations, the 99th percentile by a quarter."""

_MOST = 10.0


def resolve_guardrails(
    file: StudyFile,
    responses: Mapping[str, ResponseSpec],
    complaints: Complaints,
    *,
    among: Collection[str] | None = None,
) -> dict[str, GuardrailSpec]:
    """Those that the study declares; else failures, and the tail where it is a response.

    ``among`` are the responses that one of several workloads can use as guardrail metrics.

    By default only throughput has them: more of it may come from operations
    that were not done, or that somebody else had to wait for.
    """
    written = None if file.judge is None else file.judge.guardrails
    known = responses_for(file, complaints)
    if written is None:
        return _defaults(responses, known)
    found = {}
    primary = next(each for each in responses.values() if each.primary)
    for name, margin in written.items():
        where = ("judge", "guardrails", name)
        if among is not None and name in known and name not in among:
            continue
        if not check_response(name, where, file, complaints):
            continue
        if not 0 < margin < _MOST:
            hint = "write how much worse it may be, such as `10 %`"
            complaints.add(where, "a margin must be above 0", hint)
        elif name == primary.name or known[name].direction == "none":
            why = "is the primary response" if name == primary.name else "has no better direction"
            complaints.add(
                where, f"`{name}` {why} and cannot be a guardrail", "take it out", at_key=True
            )
        else:
            found[name] = _guardrail(name, known[name], margin, declared=True)
    return found


def _defaults(
    responses: Mapping[str, ResponseSpec], known: Mapping[str, Response]
) -> dict[str, GuardrailSpec]:
    primary = next(each for each in responses.values() if each.primary)
    streams = primary.unit == f"{BYTES}/s"  # what streams is not done in operations that may fail
    if primary.name != "throughput" or primary.source != "load" or streams:
        return {}
    names = [ERRORS, *(name for name in (TAIL,) if name in responses)]
    return {name: _guardrail(name, known[name], DEFAULTS[name], declared=False) for name in names}


def _guardrail(name: str, entry: Response, margin: float, *, declared: bool) -> GuardrailSpec:
    return GuardrailSpec(
        name=name,
        label=entry.label,
        unit=entry.unit,
        direction=entry.direction,
        margin=margin,
        absolute=entry.may_be_zero,
        declared=declared,
    )
