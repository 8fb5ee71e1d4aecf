"""What would keep a system from coming up, as far as its machine shows.

Asked before the first trial: in a study whose visits take half an hour no one should wait for
the second system to learn that its image was never built. Nothing is changed and nothing proved:
what cannot be seen from outside is reported by the trial that meets it.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable

from steelyard.engine.messages import complaint
from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host
from steelyard.hosts.looks import looking
from steelyard.hosts.site import look_around
from steelyard.hosts.tool import attempt
from steelyard.study.declared.setting import Settings
from steelyard.study.lookup import known_platform
from steelyard.study.model import SystemSpec
from steelyard.study.platform.entry import Command, Commands
from steelyard.study.platform.settings import NspawnSettings, PodmanSettings, QemuSettings
from steelyard.systems.images.recipe import names
from steelyard.systems.images.tree import is_tree, tree_of
from steelyard.systems.podman.image import refuse_unknown
from steelyard.systems.podman.tool import Tool
from steelyard.systems.qemu.accelerator import choose
from steelyard.systems.qemu.source import built_kernel, refuse_missing

_DAEMON = looking("docker version --format '{{.Server.Version}}'")


def refuse_what_cannot_come_up(spec: SystemSpec, host: Host) -> None:
    """Looks at the tools of a platform, at the image that a system names, and at the accelerator
    that it insists on.

    Raises:
        StudyError: the recipe's file has mistakes.
        SystemFailure: ``image_missing``, ``image_unusable``, ``tool_missing``, ``not_supported``.
    """
    entry, look = known_platform(spec), _LOOKS.get(spec.platform)
    if entry is not None and entry.commands is not None:
        look_around(host, f"the platform {spec.platform}", _tools(entry.commands), {}, root=False)
    if look is not None and spec.platform_text is None:
        look(spec.settings, host)


def _tools(commands: Commands) -> list[str]:
    """The programs that make and remove a system; what is behind ``through`` is elsewhere."""
    steps: list[Command] = [commands.exists, *commands.up, *commands.down]
    first = [
        commands.through[0] if commands.through and step.through else step.run[0]
        for step in steps
        if step.run or (commands.through and step.through)
    ]
    return [name for name in dict.fromkeys(first) if not set(name) & set("{@")]


def looked_at(spec: SystemSpec) -> tuple[object, ...]:
    """What the answer depends on, so that cells of one kind are asked once."""
    wanted = [spec.settings.get(key) for key in ("image", "accel", "nic", "disk_bus")]
    return spec.host_machine, spec.platform, *wanted


def holds_the_engine_only(spec: SystemSpec) -> bool:
    """Whether a container has no image: then the engine is its only program."""
    empty = spec.platform in ("podman", "nspawn") and spec.settings.get("image") is None
    return empty and spec.platform_text is None


def _guest(settings: Settings, host: Host) -> None:
    qemu = QemuSettings.of(settings)
    refuse_missing(host, qemu)
    if qemu.accel == "kvm":
        choose(host, "kvm", built_kernel(host, qemu))


def _podman(settings: Settings, host: Host) -> None:
    image = PodmanSettings.of(settings).image
    if image is not None and not is_tree(image):
        _refuse_unknown_name(host, image)
    elif image is not None:
        tree_of(host, image)


def _refuse_unknown_name(host: Host, image: str) -> None:
    """A name that is nearly one of the catalogue's is meant to be that."""
    try:
        refuse_unknown(host, Tool(lambda: host), image)
    except SystemFailure as failure:
        near = difflib.get_close_matches(image, names(), n=1)
        if failure.kind != "image_missing" or not near:
            raise
        hint = f"did you mean `{near[0]}`? `steelyard image build {near[0]} --kind container`"
        raise SystemFailure(failure.kind, failure.message, hint) from failure


def _nspawn(settings: Settings, host: Host) -> None:
    image = NspawnSettings.of(settings).image
    if image is not None:
        tree_of(host, image)


def _docker(_settings: Settings, host: Host) -> None:
    """Whether its daemon answers; the client alone makes nothing."""
    ran = attempt(host, ["sh", "-c", _DAEMON])
    if not ran.succeeded:
        why = complaint(ran.stderr, ran.stdout).strip() or "it does not say why"
        message = f"on {host.name}: the Docker daemon does not answer: {why.splitlines()[-1]}"
        hint = "start the Docker daemon; only root and the group docker may ask it"
        raise SystemFailure("not_supported", message, hint)


_LOOKS: dict[str, Callable[[Settings, Host], None]] = {
    "docker": _docker,
    "qemu": _guest,
    "podman": _podman,
    "nspawn": _nspawn,
}
"""By platform; the others say at their first trial what they lack."""
