"""From what was seen of each instance to the responses of a trial. Pure but for reading."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from steelyard.engine.messages import LoadResult
from steelyard.records.missing import OfInstance, Reason
from steelyard.records.schema import Measured
from steelyard.records.warnings import TrialWarning, WarningKind
from steelyard.study.declared.responses import EVENT, Response
from steelyard.study.ending import counted
from steelyard.trial.attempt.attempt import Attempt
from steelyard.trial.attempt.gates import generator_figures
from steelyard.trial.attempt.instance import Instance
from steelyard.trial.observe.dips import Happened, course_of, figures_of
from steelyard.trial.observe.disturbances import (
    incident_warnings,
    incidents_of,
    sample_warnings,
    without_effects_of_a_line,
)
from steelyard.trial.observe.meters import meter_warnings, metered
from steelyard.trial.observe.outputs import measured_by_tool
from steelyard.trial.observe.responses import Seen
from steelyard.trial.observe.window import Sampled, WindowSamples

_NS_PER_S = 1e9
_ENDED_ON_REQUEST = WarningKind.CANCELLED
_JOINED: dict[str, Callable[[Sequence[float]], float]] = {
    "sum": sum,
    "largest": max,
    "least": min,
    "mean": lambda values: sum(values) / len(values),
}


def seen_of(attempt: Attempt, instance: Instance) -> Seen:
    """What was seen of one instance in its window: of its load, inside it, and on its host."""
    if instance.window_ns is None:
        raise RuntimeError("the workload was not run")
    start_ns, end_ns = instance.window_ns

    def window(sampled: Sampled) -> WindowSamples:
        return sampled.window(start_ns, end_ns)

    host, generator = attempt.sampled.get("host"), attempt.sampled.get("generator")
    return Seen(
        driven=None if instance.load is None else instance.load.result,
        window=_inside(attempt, instance, window),
        host=None if host is None else window(host),
        generator=None if generator is None else window(generator),
        own=_own(instance) | _of_events(attempt, instance),
        probe=_seen_by_probe(instance),
        probe_missing=instance.probe_missing,
        meter=None if attempt.meter is None else metered(attempt.meter, start_ns, end_ns),
        column=instance.column,
        own_kernel=instance.host.boot_id != attempt.host_machine().boot_id,
        processors=attempt.cores(instance),
        through_loopback=_through_loopback(attempt, instance),
    )


def _inside(
    attempt: Attempt, instance: Instance, window: Callable[[Sampled], WindowSamples]
) -> WindowSamples:
    """What was sampled inside; why nothing was, where no agent is."""
    if not instance.has_agent:
        return WindowSamples.none(Reason(kind="no_agent"))
    return window(attempt.sampled[instance.name])


def _through_loopback(attempt: Attempt, instance: Instance) -> bool:
    """Of a load from the very machine that it goes to, without a network between."""
    same = {attempt.cell.system.host_machine} == set(attempt.session.study.generator.hosts)
    return (
        same
        and attempt.cell.system.platform == "native"
        and instance.platform.context.interface() is None
    )


def _seen_by_probe(instance: Instance) -> LoadResult | None:
    if instance.probe is None:
        return None
    seen = instance.probe.result
    return seen if counted(instance.workload.settings) is None else without_unsent(seen)


def disturbances(attempt: Attempt) -> Iterator[TrialWarning]:
    """What else happened on the machines of a trial; asked for after the load."""
    for host in attempt.machines():
        before = attempt.incidents.get(host.name)
        if before is not None:
            yield from incident_warnings(host.name, before, incidents_of(host))
    guests = {each.name for each in attempt.instances if each.carried}
    for name, sampled in attempt.sampled.items():
        window, apart = sampled.window(*attempt.span_ns()), attempt.apart.get(name, ())
        found = sample_warnings(name, window, guest=name in guests, apart=apart)
        yield from without_effects_of_a_line(found, attempt.cell.system.inside)


def warnings_of_meter(attempt: Attempt) -> list[TrialWarning]:
    """What speaks against the figures of the meter, where one was read."""
    if attempt.meter is None:
        return []
    span_ns = attempt.span_ns()
    told = metered(attempt.meter, *span_ns)
    return meter_warnings(attempt.meter, told, span_ns, attempt.cell.study.trials.margin_ratio)


def warnings_of_probes(attempt: Attempt) -> Iterator[TrialWarning]:
    """What speaks against the figures of the latency probes of a trial."""
    for instance in attempt.measured:
        if instance.probe is not None:
            open_ended = counted(instance.workload.settings) is not None
            yield from probe_warnings(instance.probe.result, open_ended=open_ended)


def without_unsent(probe: LoadResult) -> LoadResult:
    """What a probe saw that was ended with its load: what was due just then is no failure."""
    counts = probe.counts
    due = {"intended": counts.intended - counts.unsent, "unsent": 0}
    return probe.model_copy(update={"counts": counts.model_copy(update=due)})


def probe_warnings(probe: LoadResult, *, open_ended: bool) -> list[TrialWarning]:
    """The generator's warnings about the probe. None makes a trial invalid: the load counts."""
    usual = {_ENDED_ON_REQUEST} if open_ended else frozenset[WarningKind]()
    return [
        TrialWarning(
            kind=WarningKind.PROBE_SUSPECT,
            figures={"warning": each.kind, **generator_figures(each)},
        )
        for each in probe.verdict.warnings
        if each.kind not in usual
    ]


def _own(instance: Instance) -> dict[str, Measured]:
    return {} if instance.tool is None else dict(measured_by_tool(instance.tool, instance))


def _of_events(attempt: Attempt, instance: Instance) -> dict[str, Measured]:
    """What each event did to one instance, by the names of responses."""
    if instance.load is None or instance.window_ns is None:
        return {}
    course, start_ns = course_of(instance.load.document), instance.window_ns[0]
    found: dict[str, Measured] = {}
    for event in attempt.events:
        spec = attempt.cell.study.events[event.event]
        happened = Happened(
            event.began_ns - start_ns,
            event.ended_ns - start_ns,
            spec.since_s * _NS_PER_S,
            spec.late_s * _NS_PER_S,
            spec.calm_s * _NS_PER_S,
        )
        took = Measured(value=float(event.ended_ns - event.began_ns), unit="ns")
        figures = {"took": took, **figures_of(course, happened)}
        found |= {f"{EVENT}.{event.event}.{figure}": one for figure, one in figures.items()}
    return found


@dataclass(frozen=True)
class Common:
    """What an instance may have in common with others: its kernel, disk and network devices there.

    What is not known is no one else's.
    """

    kernel: Hashable = None
    disk: Hashable = None
    network: Hashable = None


def common_of(instance: Instance) -> Common:
    """The kernel by the number of its boot; the disk of its store by its device, where the study
    attaches one, else that of the kernel's machine; network devices where it has no place of its
    own in the machine.
    """
    kernel = instance.host.boot_id
    own = next((each.device for each in instance.prepared.values()), None)
    disk = None if kernel is None else (kernel, own)
    return Common(kernel, disk, None if instance.carried else kernel)


def of_all_instances(
    wanted: Mapping[str, str],
    instances: Sequence[Mapping[str, Measured]],
    known: Mapping[str, Response],
    common: Sequence[Common] = (),
) -> dict[str, Measured]:
    """Each response over all instances that run the workload, joined as it is ``known`` to be.

    One that an instance lacks is not known of all of them. What several share by ``common``, one
    for each instance, is the mean of what they saw of it.
    """
    if len(instances) == 1:
        return dict(instances[0])
    return {
        name: _joined(known[name], unit, [responses[name] for responses in instances], common)
        for name, unit in wanted.items()
    }


def _joined(
    response: Response, unit: str, measured: Sequence[Measured], common: Sequence[Common]
) -> Measured:
    for number, one in enumerate(measured, start=1):
        if one.value is None:
            missing = OfInstance(
                instance=number, missing=one.missing or Reason(kind="not_measured")
            )
            return Measured(value=None, unit=unit, missing=missing, infinite=one.infinite)
    values = _once_each([one.value for one in measured if one.value is not None], response, common)
    join = _JOINED[response.instances]
    fewest = min((one.of for one in measured if one.of is not None), default=None)
    bound = max((one.within for one in measured if one.within is not None), default=None)
    return Measured(value=join(values), unit=unit, of=fewest, within=bound)


def _once_each(
    values: Sequence[float], response: Response, common: Sequence[Common]
) -> list[float]:
    """The values, those that are of one and the same thing as their mean."""
    if response.shared is None or not common:
        return list(values)
    by_thing: dict[Hashable, list[float]] = {}
    for number, (value, each) in enumerate(zip(values, common, strict=True)):
        thing = getattr(each, response.shared)
        by_thing.setdefault(number if thing is None else ("shared", thing), []).append(value)
    return [sum(of) / len(of) for of in by_thing.values()]
