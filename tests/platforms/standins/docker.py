"""Docker, as its command line reference says."""

from __future__ import annotations

import os
import shutil

from tests.platforms.standins.world import Refused, World, options

_CREATE = dict.fromkeys(
    ("--name", "--label", "--network", "--cpus", "--memory", "--entrypoint", "--pull"), True
) | {"--init": False}
_UNKNOWN = "unknown flag: {}\nSee 'docker --help'."
_IMAGES = {"tools": "sha256:" + "ab" * 32}


def tool(world: World, _name: str, words: list[str]) -> str | list[str]:  # noqa: C901, PLR0911 - one case for each command
    match words:
        case ["create", *rest]:
            return _create(world, rest)
        case ["start", label]:
            thing = world.need(label, f"Error: No such container: {label}")
            if thing["state"] != "running":
                world.start(thing, "")
            return f"{label}\n"
        case ["container", "inspect", "--format", form, label]:
            return _inspect(world, form, label)
        case ["exec", "--interactive", label, *inside]:
            thing = world.need(label, f"Error response from daemon: No such container: {label}")
            if thing["state"] != "running":
                raise Refused(f"Error response from daemon: container {label} is not running")
            return inside
        case ["cp", source, target]:
            label, _, path = target.partition(":")
            world.need(label, f"Error: No such container:path: {target}")
            shutil.copy(source, path)
            return ""
        case ["rm", "--force", "--volumes", label]:
            world.need(label, f"Error: No such container: {label}")
            del world.things[label]
            return f"{label}\n"
        case ["version", "--format", "{{.Server.Version}}"]:
            return "24.0.7\n"
        case ["info", "--format", "{{.Driver}}"]:
            return "overlay2\n"
    raise Refused(f"docker: '{' '.join(words)}' is not a docker command.\nSee 'docker --help'", 125)


def _create(world: World, words: list[str]) -> str:
    at = words.index("--entrypoint") + 2  # the image follows the last option; then its arguments
    _, given = options(words[:at], _CREATE, _UNKNOWN, 125)
    image, *arguments = words[at:]
    label = given["--name"][0]
    if image not in _IMAGES:
        raise Refused(f"Error: No such image: {image}:latest")
    if given["--entrypoint"] != ["sleep"] or arguments != ["infinity"]:
        raise Refused("the container would end at once")
    labels = dict(text.split("=", 1) for text in given.get("--label", []))
    identity = os.urandom(32).hex()
    taken = f'Error response from daemon: Conflict. The container name "/{label}" is already in use'
    taken += f' by container "{identity}". You have to remove (or rename) that container'
    world.create(label, taken, labels=labels, id=identity, image=_IMAGES[image])
    return f"{identity}\n"


def _inspect(world: World, form: str, label: str) -> str:
    missing = f"Error response from daemon: No such container: {label}"
    thing = world.need(label, missing)
    return {
        "{{.Id}}": thing["id"],
        "{{.Image}}": thing["image"],
        "{{.State.Running}}": str(thing["state"] == "running").lower(),
        "{{.State.Pid}}": "4711" if thing["state"] == "running" else "0",
        '{{index .Config.Labels "steelyard"}}': thing["labels"].get("steelyard", "<no value>"),
        "{{range .NetworkSettings.Networks}}{{.IPAddress}} {{end}}": "172.17.0.2 ",
    }[form] + "\n"


def foreign(world: World, label: str, number: int, folder: str) -> None:
    """Somebody else's container of this name."""
    world.create(label, "", labels={}, id="f" * 64, image="sha256:0")


SETTINGS = {"image": "tools", "cpus": 2, "memory": 512 << 20, "network": "bridge"}
TOOLS = ["docker"]
ERRORS = {
    "Got permission denied while trying to connect to the Docker daemon socket at "
    "unix:///var/run/docker.sock": "no_rights",
    "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon "
    "running?": "unreachable",
    "Error: No such image: nothing:latest": "image_missing",
    'Conflict. The container name "/a" is already in use by container "b".': "name_taken",
    "write /var/lib/docker/tmp/x: no space left on device": "no_space",
    'exec: "sleep": executable file not found in $PATH: unknown': "image_unusable",
    "Error response from daemon: network lab not found": "not_supported",
}
