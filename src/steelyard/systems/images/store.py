"""Where built images are kept on a machine, what is said of each, and finding them again."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, ValidationError

from steelyard.engine.agent import AgentRefusal
from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host
from steelyard.hosts.looks import looking
from steelyard.systems.images.recipe import Init, Kind, NamedRecipe

MANIFEST = "manifest.json"
DISK, KERNEL, INITRD, ENGINE_PART, TREE = (
    "root.qcow2",
    "kernel",
    "initrd",
    "engine.cpio",
    "root.tar",
)
FORMAT = 1
_CACHE = looking('printf %s "${XDG_CACHE_HOME:-$HOME/.cache}"')


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class FileFacts(_Part):
    """A file of an image; ``sha256`` in hexadecimal."""

    sha256: str
    size_bytes: int


class EngineFacts(_Part):
    """The engine that was put in when the image was built; a newer one is carried beside it."""

    version: str
    sha256: str


class Manifest(_Part):
    """All that is known of a built image; ``digest`` is that of the recipe and its kind."""

    format: int = FORMAT
    name: str
    kind: Kind
    digest: str
    recipe: dict[str, object]
    init: Init
    files: dict[str, FileFacts]
    packages: dict[str, str]
    engine: EngineFacts
    kernel: str | None = None
    boot_modules: tuple[str, ...] = ()
    tools: dict[str, str] = {}
    took_s: float


@dataclass(frozen=True)
class Image:
    """An image that is there: its folder on the machine, and what is said of it."""

    folder: str
    manifest: Manifest

    def file(self, name: str) -> str:
        return f"{self.folder}/{name}"


def images_folder(host: Host) -> str:
    """The folder that keeps images on this machine: ``$XDG_CACHE_HOME/steelyard/images``."""
    return host.run(["sh", "-c", _CACHE], timeout_s=10).stdout + "/steelyard/images"


def find_built(host: Host, named: NamedRecipe, kind: Kind) -> Image | None:
    """The image that was built of exactly this recipe on this machine, or ``None``."""
    folder = f"{images_folder(host)}/{named.folder_name(kind)}"
    if not host.path_facts(f"{folder}/{MANIFEST}").exists:
        return None
    return read_image(host, folder)


def not_built(host: Host, wanted: str, kind: Kind) -> SystemFailure:
    """That a study names an image which is not on the machine, and what builds it there."""
    message = f"on {host.name}: the image {wanted} has not been built of its present recipe"
    options = " --kind container" if kind == "container" else ""
    options += "" if host.name == "local" else f" --on {host.name}"
    hint = f"build it: steelyard image build {wanted}{options}"
    return SystemFailure("image_missing", message, hint)


def read_image(host: Host, folder: str) -> Image:
    """The image in this folder.

    Raises:
        SystemFailure: ``image_unusable``: a file is missing or is not what was built.
    """
    hint = f"remove {folder} and build the image again: steelyard image build"
    try:
        manifest = Manifest.model_validate_json(host.read_file(f"{folder}/{MANIFEST}"))
    except (ValidationError, AgentRefusal) as error:
        raise SystemFailure("image_unusable", f"{folder} holds no image: {error}", hint) from error
    for name, file in manifest.files.items():
        facts = host.path_facts(f"{folder}/{name}")
        if facts.size_bytes != file.size_bytes:
            message = f"{folder}/{name} has {facts.size_bytes} bytes, {file.size_bytes} were built"
            raise SystemFailure("image_unusable", message, hint)
    return Image(folder, manifest)
