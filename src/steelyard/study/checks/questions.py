"""Whether a study has what its questions need: a load for a search, one alone for several."""

from __future__ import annotations

from steelyard.study.file.complaints import Complaints
from steelyard.study.file.source import Where
from steelyard.study.lookup import responses_in, workload_of
from steelyard.study.model import FindSpec, Study
from steelyard.study.workload_study import measured_names, probed, studies

_OF_THE_LOAD = ("response", "service_time", "lateness", "phase", "kind")


def check_asked(study: Study, complaints: Complaints) -> None:
    """Adds one complaint for each question that this study cannot answer."""
    loads = {factor for one in studies(study) for factor in one.factors}
    if study.find and not {"load.users", "load.rate"} & loads:
        hint = "write `load: {users: [1, 8, 64]}` or a rate; the search starts at the smallest"
        complaints.add(("find",), "a search needs a load", hint, at_key=True)
    _of_workloads(study, complaints)
    for find in study.find.values():
        _search(find, study, ("find", find.name), complaints)
    levels = study.factors.get("system.instances", ())
    alone = 1 in levels and len(levels) > 1
    if study.judge.consolidation and not study.scenarios and not alone:
        hint = "write `factors: {system.instances: [1, 2, 4]}`"
        message = "consolidation compares several instances with one alone"
        complaints.add(("judge", "consolidation"), message, hint)
    varied = (levels for one in studies(study) for levels in one.factors.values())
    if study.ask is not None and not any(len(levels) > 1 for levels in varied):
        hint = "add a factor with several levels, as `load: {users: [1, 4]}`, or take it out"
        message = f"there is no factor besides `{study.compare}` to ask about"
        complaints.add(("ask",), message, hint, at_key=True)
    if not complaints:
        _consolidation(study, complaints)


def _of_workloads(study: Study, complaints: Complaints) -> None:
    """What is asked of all workloads must concern one of them."""
    names = measured_names(study)
    if study.find and not any(workload_of(study.workloads[name]).is_load for name in names):
        hint = "take it out, or drive a load with a workload of the engine"
        message = "a search needs a workload of the engine that takes a load"
        complaints.add(("find",), message, hint, at_key=True)
    if study.latency_probe is not None and not any(probed(study, name) for name in names):
        hint = "choose a latency probe for the protocol of a load, or `tcp-connect`"
        message = f"no workload of this study has a server for `{study.latency_probe.use}`"
        complaints.add(("latency_probe",), message, hint, at_key=True)
    for name in names:
        primary = next(n for n, each in study.measured[name].responses.items() if each.primary)
        if primary.startswith("probe.") and not probed(study, name):
            hint = "mark another response as primary"
            message = f"`{primary}` cannot be primary: no latency probe measures `{name}`"
            complaints.add(("workloads", name), message, hint, at_key=True)


def _consolidation(study: Study, complaints: Complaints) -> None:
    """A response of which neither more nor less is better is no speed."""
    for one in studies(study) if study.judge.consolidation else ():
        responses = one.responses.values()
        rate = any(r.direction == "higher" and r.unit.endswith("/s") for r in responses)
        if not rate and one.primary.direction == "none":
            message = f"`{one.primary.name}` does not show what instances take from each other"
            hint = "add a response with a better direction, such as `throughput`"
            complaints.add(("judge", "consolidation"), message, hint)


def _search(find: FindSpec, study: Study, where: Where, complaints: Complaints) -> None:
    """Every short run of a search must have what it limits, so it is of the load itself."""
    if find.name in responses_in(study):
        hint = "give the search a name of its own, as `capacity`"
        complaints.add(where, f"`{find.name}` is a response", hint, at_key=True)
    if not find.limits:
        hint = "write `{response.p99: at most 500 ms}`"
        complaints.add(where, f"search `{find.name}` has no limit", hint, at_key=True)
    for limit in find.limits:
        family = limit.name.partition(".")[0]
        if limit.name not in ("errors", "throughput") and family not in _OF_THE_LOAD:
            hint = "limit `errors` or a percentile such as `response.p99`"
            message = f"a search cannot limit `{limit.name}`"
            complaints.add((*where, limit.name), message, hint, at_key=True)
