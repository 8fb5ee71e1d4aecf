"""labgrid 26, as its own coordinator answered it; a place is a thing while it is acquired."""

from __future__ import annotations

import os
import shlex
import shutil
from typing import Any

from tests.platforms.standins.world import Refused, World

_PLACE = "board1"
_SHOWN = """\
Place '{place}':
  matches:
    */{place}/*
  acquired: {owner}
  acquired resources:
    lab/{place}/NetworkPowerPort/NetworkPowerPort
Acquired resource 'NetworkService' (lab/{place}/NetworkService/NetworkService):
  {{'acquired': '{place}',
   'avail': True,
   'cls': 'NetworkService',
   'params': {{'address': '192.0.2.7',
              'port': 22,
              'username': 'root'}}}}
"""


def tool(world: World, _name: str, words: list[str]) -> str | list[str]:  # noqa: PLR0911 - one case for each command
    match words:
        case ["-p", place, "show"]:
            held = world.things.get(_known(place))
            return _SHOWN.format(place=place, owner=f"lab/{held['owner']}" if held else None)
        case ["-p", place, "acquire"]:
            held = world.things.get(_known(place))
            said = f"Error: Place {place} is already acquired by lab/{held and held['owner']}."
            world.create(place, _client(said), owner=os.environ["LG_USERNAME"])
            return f"acquired place {place}\n"
        case ["-p", place, "release"]:
            del world.things[_own(world, place)["name"]]
            return f"released place {place}\n"
        case ["-p", place, "power", "cycle"]:
            thing = _own(world, place)
            thing["state"] = "off"
            world.start(thing, "")
            return ""
        case ["-p", place, "power", "off"]:
            _own(world, place)["state"] = "off"
            return ""
        case ["-p", place, "ssh", *inside]:
            _running(world, place)
            return shlex.split(" ".join(inside))
        case ["-p", place, "scp", source, target]:
            _running(world, place)
            shutil.copy(source, target.removeprefix(":"))
            return ""
    raise Refused(f"labgrid-client: error: invalid choice: {words}", 2)


def _client(said: str) -> str:
    return f"labgrid-client: {said}"


def _known(place: str) -> str:
    if place != _PLACE:
        raise Refused(_client(f"Error: place pattern {place} matches nothing"))
    return place


def _own(world: World, place: str) -> dict[str, Any]:
    thing = world.need(_known(place), _client(f"Error: place {place} is not acquired"))
    if thing["owner"] != os.environ["LG_USERNAME"]:
        said = f"Error: place {place} is acquired by a different user (lab/{thing['owner']})"
        raise Refused(_client(said))
    return thing


def _running(world: World, place: str) -> None:
    if _own(world, place)["state"] != "running":
        raise Refused("Exception: Timeout while waiting for ssh connection", 2)


def foreign(world: World, label: str, number: int, folder: str) -> None:
    """Somebody else has the place."""
    del label, number, folder
    world.create(_PLACE, "", owner="somebody")


SETTINGS = {"place": _PLACE, "coordinator": "lab:20408"}
TOOLS = ["labgrid-client"]
ERRORS = {
    "labgrid-client: Error: Place board1 is already acquired by vm/somebody.": "name_taken",
    "labgrid-client: Error: place board1 is acquired by a different user (vm/x)": "name_taken",
    "Server error: Error: Could not connect to coordinator": "unreachable",
    "labgrid-client: Error: place pattern board9 matches nothing": "image_missing",
    "labgrid-client: Error: target has no compatible resource available": "not_supported",
    "ssh: root@192.0.2.7: Permission denied (publickey).": "no_rights",
    "Exception: Timeout while waiting for ssh connection": "unreachable",
    "env: 'labgrid-client': No such file or directory": "tool_missing",
}
