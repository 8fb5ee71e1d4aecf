"""What counts of each workload of a study: responses, gates, guardrails."""

from __future__ import annotations

from collections.abc import Mapping

from steelyard.study.declared.responses import Response
from steelyard.study.file.complaints import Complaints
from steelyard.study.file.grammar import ResponsePart, StudyFile
from steelyard.study.file.source import Where
from steelyard.study.lookup import known_workload
from steelyard.study.model import GateSpec, MeasuredSpec, ResponseSpec, WorkloadSpec
from steelyard.study.resolve.entries import responses_for
from steelyard.study.resolve.workloads.guardrails import resolve_guardrails
from steelyard.study.resolve.workloads.phases import phases_instead
from steelyard.study.resolve.workloads.responses import check_response, read_responses

RUN_TIME = "run_time"


def resolve_alone(
    file: StudyFile,
    workload: WorkloadSpec,
    gates: Mapping[str, GateSpec],
    complaints: Complaints,
) -> MeasuredSpec:
    """Of the one workload of a study: all that is written of the study."""
    written = file.responses or {}
    responses = read_responses(written, (), ("responses",), workload, file, complaints)
    _check_given(written, ("responses",), workload, file, complaints)
    guardrails = resolve_guardrails(file, responses, complaints)
    return MeasuredSpec(responses=responses, gates=dict(gates), guardrails=guardrails)


def resolve_measured(
    file: StudyFile,
    workloads: Mapping[str, WorkloadSpec],
    gates: Mapping[str, GateSpec],
    complaints: Complaints,
) -> dict[str, MeasuredSpec]:
    """For each of several workloads its own responses, and those of the study that it can give.

    Its primary response is the one marked under the workload, or the workload's own.
    """
    known = responses_for(file, complaints)
    shared = _shared(file, workloads, known, complaints)
    found = {}
    for name, workload in workloads.items():
        where: Where = ("workloads", name, "responses")
        own = (file.workloads or {})[name].responses or {}
        concerned = [each for each in shared if concerns(workload, each, known)]
        responses = read_responses(own, concerned, where, workload, file, complaints)
        _check_given(own, where, workload, file, complaints)
        found[name] = MeasuredSpec(
            responses=responses,
            gates={n: gate for n, gate in gates.items() if concerns(workload, n, known)},
            guardrails=resolve_guardrails(
                file, responses, complaints, among=_guarding(workload, responses, known)
            ),
        )
    return found


def _check_given(
    written: Mapping[str, ResponsePart],
    where: Where,
    workload: WorkloadSpec,
    file: StudyFile,
    complaints: Complaints,
) -> None:
    """What is to decide is something that the workload gives."""
    known = responses_for(file, complaints)
    for name in written if known_workload(workload) is not None else ():
        if not written[name].primary or name not in known:
            continue
        message = f"`{workload.use}` gives no `{name}`"
        phases = phases_instead(workload.use, name)
        if phases:
            hint = f"its phases: {', '.join(phases)}"
            complaints.add((*where, name), message, hint, at_key=True)
        elif not concerns(workload, name, known):
            hint = "mark another response; without a mark the workload's own decides"
            complaints.add((*where, name), message, hint, at_key=True)


def concerns(workload: WorkloadSpec, name: str, known: Mapping[str, Response]) -> bool:
    """Whether a workload can give a response: its own metrics, what is sampled, and of what is
    driven all that a load gives.
    """
    entry, response = known_workload(workload), known.get(name)
    if entry is None or response is None:
        return False
    if name in entry.metrics:
        return True
    if response.source in {"load", "probe", "event"}:
        return entry.is_load
    if response.source == "samples":
        return bool(entry.speaks) or not name.startswith("service.")
    return name == RUN_TIME and entry.is_tool


def _shared(
    file: StudyFile,
    workloads: Mapping[str, WorkloadSpec],
    known: Mapping[str, Response],
    complaints: Complaints,
) -> list[str]:
    """The responses of the study: of every workload that can give them."""
    given = []
    for name, part in (file.responses or {}).items():
        where: Where = ("responses", name)
        if not check_response(name, where, file, complaints):
            continue
        if part.primary:
            mark = f"{{responses: {{{name}: {{primary: true}}}}}}"
            hint = f"mark it at a workload: `workloads: {{NAME: {mark}}}`"
            message = "several workloads cannot share a primary response"
            complaints.add(where, message, hint, at_key=True)
        if not any(concerns(workload, name, known) for workload in workloads.values()):
            message = f"no workload of this study gives `{name}`"
            complaints.add(where, message, "take it out", at_key=True)
        given.append(name)
    return given


def _guarding(
    workload: WorkloadSpec, responses: Mapping[str, ResponseSpec], known: Mapping[str, Response]
) -> set[str]:
    primary = next(name for name, each in responses.items() if each.primary)
    return {name for name in known if concerns(workload, name, known)} - {primary}
