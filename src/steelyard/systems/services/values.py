"""The text of each placeholder of a service file, for one start. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from steelyard.hosts.site import filled
from steelyard.study.declared.placeholders import as_word
from steelyard.study.model import ServiceSpec
from steelyard.study.service.entry import Service
from steelyard.study.service.placeholders import text_of


def wanted_ports(entry: Service, spec: ServiceSpec) -> list[str]:
    """Ports that the study leaves open and that the service cannot choose itself."""
    if entry.ready == "announced":
        return []
    ports = (name for name, setting in entry.settings.items() if setting.kind == "port")
    return [name for name in ports if spec.settings.get(name) is None]


def named_ports(entry: Service, spec: ServiceSpec) -> list[int]:
    """Ports that the study names, where the service does not report whether it got them."""
    if entry.ready == "announced":
        return []
    ports = (spec.settings.get(name) for name, s in entry.settings.items() if s.kind == "port")
    return [port for port in ports if isinstance(port, int)]


def values_for(entry: Service, spec: ServiceSpec, given: Mapping[str, str]) -> dict[str, str]:
    """Every placeholder with its text; ``given`` are those that no setting gives.

    A port that is left to the service itself is 0.
    """
    values = dict(given)
    for name, setting in entry.settings.items():
        value = spec.settings.get(name)
        if value is not None:
            values[name] = text_of(setting, value)
        elif setting.kind == "port" and name not in values:
            values[name] = "0"
    for name, text in entry.unset.items():
        if name not in values:
            values[name] = filled(text, values)
    for name, place in entry.placeholders.items():
        values[name] = filled(place.texts[as_word(spec.settings.get(place.by))], values)
    return values
