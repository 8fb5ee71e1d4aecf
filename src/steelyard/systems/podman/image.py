"""Where a container's image comes from: a reference, a tar, a recipe, or nothing at all.

An image of the user's is taken as it is. One that was imported bears a name of each instance of
the run that uses it and no other, so it goes with the last of them. Runs share none: Podman 4.3
loses names of an image that two of its callers put on it at a time.
"""

from __future__ import annotations

from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host
from steelyard.hosts.undo.actions.podman import NAMING, RemoveImageName
from steelyard.hosts.undo.log import PendingUndo
from steelyard.study.platform.settings import PodmanSettings
from steelyard.systems.images.tree import is_tree, sha256_of_file, tree_of
from steelyard.systems.platform import InstanceContext
from steelyard.systems.podman.tool import Tool

_SHA256 = "steelyard.tar.sha256"
_IMPORT_TIMEOUT_S = 600.0
_EMPTY_TAR = "\0" * 10240


def image_name(label: str) -> str:
    """The name that an instance gives its image."""
    return f"localhost/{label.lower()}:latest"


def provide(context: InstanceContext, tool: Tool) -> tuple[str, PendingUndo | None]:
    """The image by a name that means it alone, and how that name is taken off again, if it is ours.

    Raises:
        SystemFailure: ``image_missing`` or ``image_unusable``.
    """
    wanted = PodmanSettings.of(context.spec.settings).image
    host = context.host_machine()
    if wanted is not None and not is_tree(wanted):
        return _known(context, tool, wanted), None
    tar = None if wanted is None else tree_of(host, wanted)
    digest = "empty" if tar is None else sha256_of_file(host, tar)
    name = image_name(context.label)
    planned = context.undo.plan(host.name, RemoveImageName(name))
    digest += f"-{_run_of(context.label)}"
    label = f"--filter=label={_SHA256}={digest}"
    with NAMING:
        imported = tool.tell("images", "--quiet", "--no-trunc", label).splitlines()
        if not (imported and tool.succeeds("tag", imported[0], name)):
            _import(context, tool, tar, name, digest)
    return name, planned


def _run_of(label: str) -> str:
    """The mark of the run in a label such as ``steelyard-7f3a0c11-web-1``."""
    return label.split("-")[1]


def _known(context: InstanceContext, tool: Tool, reference: str) -> str:
    """Its id: a reference may come to mean another image while the run lasts."""
    refuse_unknown(context.host_machine(), tool, reference)
    return tool.tell("image", "inspect", "--format={{.Id}}", reference)


def refuse_unknown(host: Host, tool: Tool, reference: str) -> None:
    """Raises ``SystemFailure``, ``image_missing``, unless Podman has it on this machine."""
    if not tool.succeeds("image", "exists", reference):
        message = f"on {host.name}: Podman has no image {reference}"
        hint = f"fetch it there first: podman pull {reference}"
        raise SystemFailure("image_missing", message, hint)


def _import(context: InstanceContext, tool: Tool, tar: str | None, name: str, digest: str) -> None:
    file = tar or f"{context.folder}/empty.tar"
    if tar is None:
        context.host_machine().write_file(file, _EMPTY_TAR, create=True)
    change = f"--change=LABEL {_SHA256}={digest}"
    try:
        tool.tell("import", "--quiet", change, file, name, timeout_s=_IMPORT_TIMEOUT_S)
    except SystemFailure as failure:
        if failure.kind != "tool_failed" or tar is None:  # an empty image is always in order
            raise
        raise SystemFailure(
            "image_unusable",
            f"on {context.host_machine().name}: Podman cannot import {file}",
            "it takes a tar of a root filesystem, such as `steelyard image build` makes",
            last_words=failure.last_words,
        ) from failure
