"""Whether a study has what its questions need: a load for a search, one alone for several."""

from __future__ import annotations

from steelyard.study import catalogue
from steelyard.study.file.complaints import Complaints
from steelyard.study.file.source import Where
from steelyard.study.model import FindSpec, Study

_OF_THE_LOAD = ("response", "service_time", "lateness", "phase", "kind")


def check_asked(study: Study, complaints: Complaints) -> None:
    """Adds one complaint for each question that this study cannot answer."""
    if study.find and not {"load.users", "load.rate"} & set(study.factors):
        hint = "write `load: {users: [1, 8, 64]}` or a rate; the search begins at the smallest"
        complaints.add(("find",), "a search needs a load", hint, at_key=True)
    for find in study.find.values():
        _search(find, ("find", find.name), complaints)
    levels = study.factors.get("system.instances", ())
    alone = 1 in levels and len(levels) > 1
    if study.judge.consolidation and not study.scenarios and not alone:
        hint = "write `factors: {system.instances: [1, 2, 4]}`"
        message = "consolidation compares several instances with one alone"
        complaints.add(("judge", "consolidation"), message, hint)


def _search(find: FindSpec, where: Where, complaints: Complaints) -> None:
    """Every short run of a search must have what it limits, so it is of the load itself."""
    if find.name in catalogue.responses():
        hint = "give the search a name of its own, as `capacity`"
        complaints.add(where, f"`{find.name}` is a response", hint, at_key=True)
    if not find.limits:
        hint = "write `{response.p99: at most 500 ms}`"
        complaints.add(where, f"the search `{find.name}` has no limit", hint, at_key=True)
    for limit in find.limits:
        family = limit.name.partition(".")[0]
        if limit.name not in ("errors", "throughput") and family not in _OF_THE_LOAD:
            hint = "limit `errors` or a percentile such as `response.p99`"
            message = f"a search cannot see `{limit.name}`"
            complaints.add((*where, limit.name), message, hint, at_key=True)
