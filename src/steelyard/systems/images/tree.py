"""The tar of a root filesystem that a container starts from."""

from __future__ import annotations

from steelyard.engine.agent import AgentRefusal
from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host
from steelyard.hosts.tool import tell
from steelyard.systems.images import recipe
from steelyard.systems.images.store import TREE, find_built, not_built

_TARS = (".tar", ".tar.gz", ".tgz", ".tar.xz", ".tar.zst")
_READ_TIMEOUT_S = 600.0


def is_tree(image: str) -> bool:
    """Whether the setting names a recipe or a tar, rather than what a tool keeps by a name."""
    is_path = image.startswith(("/", "./")) or image.endswith(_TARS)
    return is_path or recipe.is_recipe(image)


def tree_of(host: Host, image: str) -> str:
    """Path of the tar on the machine that carries the container.

    Raises:
        StudyError: the recipe's file has mistakes.
        SystemFailure: ``image_missing`` or ``image_unusable``.
    """
    if recipe.is_recipe(image):
        return _built(host, image)
    if not _is_there(host, image):
        raise SystemFailure(
            "image_missing",
            f"on {host.name}: there is no file {image}",
            "name a recipe that was built there, or a tar of a root filesystem",
        )
    return image


def _is_there(host: Host, path: str) -> bool:
    """An agent refuses to look at a word that is no path."""
    try:
        return host.path_facts(path).exists
    except AgentRefusal:
        return False


def sha256_of_file(host: Host, path: str) -> str:
    """Of the file as it is now."""
    told = tell(host, ["sha256sum", "--", path], timeout_s=_READ_TIMEOUT_S)
    return told.split()[0].lstrip("\\")


def _built(host: Host, wanted: str) -> str:
    built = find_built(host, recipe.find_recipe(wanted), "container")
    if built is None:
        raise not_built(host, wanted, "container")
    return built.file(TREE)
