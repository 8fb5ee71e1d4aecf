"""Where a container's image comes from: a reference, a tar, a recipe, or nothing at all.

An image of the user's is taken as it is. One that was imported bears a name of each instance that
uses it and no other, so it goes with the last of them.
"""

from __future__ import annotations

from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host
from steelyard.hosts.inverses.podman import RemoveImageName
from steelyard.hosts.tool import tell
from steelyard.hosts.undo import PendingUndo
from steelyard.systems.images import recipe
from steelyard.systems.images.store import TREE, find_built
from steelyard.systems.platform import Ground
from steelyard.systems.podman.tool import Tool

_TARS = (".tar", ".tar.gz", ".tgz", ".tar.xz", ".tar.zst")
_SHA256 = "steelyard.tar.sha256"
_IMPORT_TIMEOUT_S = 600.0
_EMPTY_TAR = "\0" * 10240


def image_name(label: str) -> str:
    """The name that an instance gives its image."""
    return f"localhost/{label.lower()}:latest"


def provide(ground: Ground, tool: Tool) -> tuple[str, PendingUndo | None]:
    """The image by a name that means it alone, and how that name is taken off again, if it is ours.

    Raises:
        SystemFailure: ``image_missing`` or ``image_unusable``.
    """
    wanted = ground.spec.settings.get("image")
    if wanted is not None and is_recipe(wanted):
        tar: str | None = built_tree(ground.carrier(), wanted)
    elif wanted is None or is_tar(wanted):
        tar = wanted
    else:
        return _known(ground, tool, wanted), None
    digest = _digest(ground.carrier(), tar)
    name = image_name(ground.label)
    planned = ground.undo.plan(ground.carrier().name, RemoveImageName(name))
    label = f"--filter=label={_SHA256}={digest}"
    imported = tool.tell("images", "--quiet", "--no-trunc", label).splitlines()
    if imported:
        tool.tell("tag", imported[0], name)
    else:
        _import(ground, tool, tar, name, digest)
    return name, planned


def is_recipe(image: str) -> bool:
    """Whether the setting names what ``steelyard image build --kind container`` makes."""
    return image in recipe.names() or image.endswith(".yaml")


def built_tree(host: Host, wanted: str) -> str:
    """The tar that was built of a recipe on this machine.

    Raises:
        StudyError: the recipe's file has mistakes.
        SystemFailure: ``image_missing`` or ``image_unusable``.
    """
    built = find_built(host, recipe.find_recipe(wanted), "container")
    if built is None:
        message = f"on {host.name}: the image {wanted} has not been built of its present recipe"
        hint = f"build it: steelyard image build {wanted} --kind container"
        raise SystemFailure("image_missing", message, hint)
    return built.file(TREE)


def is_tar(image: str) -> bool:
    """Whether the setting names a file rather than a reference."""
    return image.startswith(("/", "./")) or image.endswith(_TARS)


def _known(ground: Ground, tool: Tool, reference: str) -> str:
    """Its id: a reference may come to mean another image while the run lasts."""
    if tool.succeeds("image", "exists", reference):
        return tool.tell("image", "inspect", "--format={{.Id}}", reference)
    raise SystemFailure(
        "image_missing",
        f"on {ground.carrier().name}: Podman has no image {reference}",
        f"fetch it there first: podman pull {reference}",
    )


def _digest(host: Host, tar: str | None) -> str:
    """Of the tar; the empty image has a word instead."""
    if tar is None:
        return "empty"
    if not host.path_facts(tar).exists:
        raise SystemFailure(
            "image_missing",
            f"on {host.name}: there is no file {tar}",
            "`image` is a recipe, a reference that Podman has, or a tar on that machine",
        )
    told = tell(host, ["sha256sum", "--", tar], timeout_s=_IMPORT_TIMEOUT_S)
    return told.split()[0].lstrip("\\")


def _import(ground: Ground, tool: Tool, tar: str | None, name: str, digest: str) -> None:
    file = tar or f"{ground.folder}/empty.tar"
    if tar is None:
        ground.carrier().write_file(file, _EMPTY_TAR, create=True)
    change = f"--change=LABEL {_SHA256}={digest}"
    try:
        tool.tell("import", "--quiet", change, file, name, timeout_s=_IMPORT_TIMEOUT_S)
    except SystemFailure as failure:
        if failure.kind != "tool_failed":
            raise
        raise SystemFailure(
            "image_unusable",
            f"on {ground.carrier().name}: Podman cannot import {file}",
            "it takes a tar of a root filesystem, such as `steelyard image build` makes",
            last_words=failure.last_words,
        ) from failure
