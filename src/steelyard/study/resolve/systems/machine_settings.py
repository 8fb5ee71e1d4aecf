"""Reversible settings of a machine as a study writes them: ``settings`` and ``host_settings``."""

from __future__ import annotations

from collections.abc import Mapping

from steelyard import units
from steelyard.study.declared.machine import declared_setting, flat_settings, names_to_write
from steelyard.study.declared.value import read_level
from steelyard.study.file.complaints import Complaints, choice_hint
from steelyard.study.file.source import Where
from steelyard.study.model import Level


def read_machine_settings(
    written: Mapping[str, object], where: Where, complaints: Complaints
) -> dict[str, Level]:
    """Values in base units by dotted name, such as ``sysctl.vm.swappiness``."""
    values: dict[str, Level] = {}
    for name, value in flat_settings(written).items():
        place = _place(written, where, name)
        setting = declared_setting(name)
        if setting is None:
            hint = choice_hint(name, names_to_write(), "settings of a machine")
            complaints.add(place, f"there is no setting `{name}`", hint, at_key=True)
        elif isinstance(value, list):
            hint = f"several are a factor: `factors: {{{where[-1]}.{name}: [...]}}`"
            complaints.add(place, f"`{name}` of a system cannot be a list", hint)
        else:
            try:
                values[name] = read_level(value, setting)
            except units.UnitError as error:
                complaints.add(place, f"`{name}`: {error.message}", error.hint)
    return values


def _place(written: Mapping[str, object], where: Where, name: str) -> Where:
    """Where a dotted name was written: as one key, or nested."""
    if name in written:
        return (*where, name)
    head, _, rest = name.partition(".")
    inner = written.get(head)
    return (*where, head, rest) if isinstance(inner, dict) and rest in inner else (*where, head)
