"""From what was seen of each instance to the responses of a trial. Pure but for reading a scene."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from steelyard.engine.messages import LoadResult
from steelyard.records.schema import Doubt, Measured
from steelyard.study.counted import counted
from steelyard.study.response import Response
from steelyard.trial.disturbances import incident_doubts, incidents_of, sample_doubts
from steelyard.trial.instance import Instance
from steelyard.trial.limited import limited_by
from steelyard.trial.outputs import measured_by_tool
from steelyard.trial.probing import probe_doubts, without_unsent
from steelyard.trial.responses import Seen
from steelyard.trial.sampling import Sampled
from steelyard.trial.scene import Scene
from steelyard.trial.window import WindowSamples

_JOINED: dict[str, Callable[[Sequence[float]], float]] = {
    "sum": sum,
    "largest": max,
    "least": min,
    "mean": lambda values: sum(values) / len(values),
}


def seen_of(scene: Scene, instance: Instance) -> Seen:
    """What was seen of one instance in its window: of its load, inside it, and on its host."""
    if instance.window_ns is None:
        raise RuntimeError("the workload was not run")
    start_ns, end_ns = instance.window_ns

    def window(sampled: Sampled) -> WindowSamples:
        return sampled.window(start_ns, end_ns)

    host, generator = scene.sampled.get("host"), scene.sampled.get("generator")
    return Seen(
        driven=None if instance.load is None else instance.load.result,
        window=window(scene.sampled[instance.name]),
        host=None if host is None else window(host),
        generator=None if generator is None else window(generator),
        own=_own(instance),
        probe=_seen_by_probe(instance),
        probe_missing=instance.probe_missing,
        column=instance.column,
    )


def _seen_by_probe(instance: Instance) -> LoadResult | None:
    if instance.probe is None:
        return None
    seen = instance.probe.result
    return seen if counted(instance.workload.settings) is None else without_unsent(seen)


def disturbances(scene: Scene) -> Iterator[Doubt]:
    """What else happened on the machines of a trial; asked for after the load."""
    for host in scene.machines():
        before = scene.incidents.get(host.name)
        if before is not None:
            yield from incident_doubts(host.name, before, incidents_of(host))
    guests = {each.name for each in scene.instances if each.carried}
    for name, sampled in scene.sampled.items():
        yield from sample_doubts(name, sampled.window(*scene.span_ns()), guest=name in guests)


def doubts_of_probes(scene: Scene) -> Iterator[Doubt]:
    """What speaks against the figures of the bystanders of a trial."""
    for instance in scene.measured:
        if instance.probe is not None:
            open_ended = counted(instance.workload.settings) is not None
            yield from probe_doubts(instance.probe.result, open_ended=open_ended)


def _own(instance: Instance) -> Mapping[str, Measured]:
    return {} if instance.tool is None else measured_by_tool(instance.tool, instance)


def limits_of(scene: Scene, seen: Seen) -> str | None:
    """What limited the trial, in words."""
    return limited_by(seen, scene.cores())


def of_all_instances(
    wanted: Mapping[str, str],
    instances: Sequence[Mapping[str, Measured]],
    known: Mapping[str, Response],
) -> dict[str, Measured]:
    """Each response over all instances that run the workload, joined as it is ``known`` to be.

    One that an instance lacks is not known of all of them.
    """
    if len(instances) == 1:
        return dict(instances[0])
    return {
        name: _joined(known[name], unit, [responses[name] for responses in instances])
        for name, unit in wanted.items()
    }


def _joined(response: Response, unit: str, measured: Sequence[Measured]) -> Measured:
    for number, one in enumerate(measured, start=1):
        if one.value is None:
            why = f"instance {number}: {one.missing}"
            return Measured(value=None, unit=unit, missing=why, infinite=one.infinite)
    values = [one.value for one in measured if one.value is not None]
    join = _JOINED[response.instances]
    fewest = min((one.of for one in measured if one.of is not None), default=None)
    return Measured(value=join(values), unit=unit, of=fewest)
