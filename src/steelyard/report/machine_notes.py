"""Caveats of a report on several machines: each names those that it is about."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence

from steelyard.judge.findings import RunFindings
from steelyard.judge.kinds.caveats import (
    Caveat,
    ChangedByOthers,
    CleanupIncomplete,
    CleanupNotVerified,
    CleanupVerified,
)

_NAME_THEIR_OWN = (ChangedByOthers, CleanupIncomplete, CleanupNotVerified, CleanupVerified)


def on_machine(name: str, found: RunFindings) -> RunFindings:
    """The findings of one machine, whose caveats say so."""

    def named(caveat: Caveat) -> Caveat:
        own = isinstance(caveat, _NAME_THEIR_OWN)
        return caveat if own else caveat.model_copy(update={"on": (name,)})

    return _with_caveats(found, lambda caveats: tuple(map(named, caveats)))


def of_machines(machines: Collection[str], whole: RunFindings) -> RunFindings:
    """The findings of all of them: a caveat that is about several stands once, and names none
    where it is about all.
    """
    return _with_caveats(whole, lambda caveats: tuple(_each_once(machines, caveats)))


def _each_once(machines: Collection[str], caveats: Sequence[Caveat]) -> Iterable[Caveat]:
    plain = [caveat.model_copy(update={"on": ()}) for caveat in caveats]
    for place, caveat in enumerate(plain):
        if caveat not in plain[:place]:
            alike = (c.on for c, bare in zip(caveats, plain, strict=True) if bare == caveat)
            on = [name for names in alike for name in names]
            yield caveat.model_copy(update={"on": () if len(on) == len(machines) else tuple(on)})


def _with_caveats(
    found: RunFindings, changed: Callable[[Sequence[Caveat]], tuple[Caveat, ...]]
) -> RunFindings:
    workloads = tuple(
        own.model_copy(update={"caveats": changed(own.caveats)}) for own in found.workloads
    )
    update = {"caveats": changed(found.caveats), "workloads": workloads}
    return found.model_copy(update=update)
