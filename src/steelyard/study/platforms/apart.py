"""What instances of a commanded platform cannot share: settings that differ by ``{instance}``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from steelyard.study.catalogue import Platform
from steelyard.study.file.complaints import Complaints
from steelyard.study.places import places
from steelyard.study.setting import Setting

INSTANCE = "{instance}"
_OWN = ("label", "mark", "number", "instance", "folder")
"""Places that are another text for each instance."""


def shared(declared: Mapping[str, Setting], given: Mapping[str, Any]) -> list[str]:
    """Names of the settings that would be the same for all instances, and must not be."""
    return [
        name
        for name, setting in declared.items()
        if setting.differs and given.get(name) is not None and INSTANCE not in str(given[name])
    ]


def check_apart(platform: Platform, complaints: Complaints) -> None:
    """Adds what a file says of an address that several instances would have alike."""
    for name, setting in platform.settings.items():
        if setting.differs and setting.kind != "text":
            message = f"only a text can hold `{INSTANCE}`, and `{name}` is a {setting.kind}"
            hint = "make its kind `text`, or take `differs` out"
            complaints.add(("settings", name, "differs"), message, hint)
    reading = None if platform.commands is None else platform.commands.address
    if reading is None:
        return
    text = " ".join([*reading.run, reading.script or "", *reading.inside])
    names = [place.name for place in places(text)]
    fixed = [name for name in names if name in platform.settings]
    apart = any(name in _OWN or _differs(platform, name) for name in names)
    if fixed and not apart and not reading.inside:
        hint = f"say `differs: true` of `{fixed[0]}`: a study then writes `{INSTANCE}` into it"
        message = f"by `{fixed[0]}` alone, all instances would have one address"
        complaints.add(("commands", "address"), message, hint, at_key=True)


def _differs(platform: Platform, name: str) -> bool:
    setting = platform.settings.get(name)
    return setting is not None and setting.differs
