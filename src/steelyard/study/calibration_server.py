"""The engine's own server that a generator is calibrated with, if it is not the service. Pure."""

from __future__ import annotations

from steelyard.study import catalogue
from steelyard.study.declared.value import defaults_of
from steelyard.study.lookup import workload_of
from steelyard.study.model import GeneratorSpec, ServiceSpec, SystemSpec, WorkloadSpec
from steelyard.study.workload.settings import SharedSettings

NATIVE = "native"


def sink_for(
    workload: WorkloadSpec, own: ServiceSpec | None, generator: GeneratorSpec
) -> ServiceSpec | None:
    """The engine's own server for a workload; ``None`` when it has none. ``own`` is the study's."""
    how = workload_of(workload).calibration
    if how is None:
        return None
    settings = defaults_of(catalogue.service(how.service).settings)
    if "tls" in settings:
        settings["tls"] = SharedSettings.of(workload.settings).tls
    if own is not None and own.use == how.service:
        settings |= {name: own.settings[name] for name in how.alike if name in own.settings}
    if "threads" in settings:  # a server with fewer would hold a generator of several back
        settings["threads"] = generator.threads
    return ServiceSpec(use=how.service, settings=settings)


def is_its_own_server(
    workload: WorkloadSpec, own: ServiceSpec | None, system: SystemSpec, generator: GeneratorSpec
) -> bool:
    """Whether the service is what the generator would be calibrated with, on its machine.

    Every trial then reaches about the capacity, which says nothing about the generator.
    """
    sink = sink_for(workload, own, generator)
    return (
        own is not None
        and sink is not None
        and (own.use, own.settings) == (sink.use, sink.settings)
        and (system.platform, system.instances) == (NATIVE, 1)
        and generator.hosts == (system.host_machine,)
    )
