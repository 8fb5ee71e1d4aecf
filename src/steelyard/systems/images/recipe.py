"""What an image is made of, as a recipe says it, and the digest that names what comes of it."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from steelyard.errors import StudyError
from steelyard.hosts.failures import SystemFailure
from steelyard.study.file.complaints import Complaints, add_validation, choice_hint
from steelyard.study.file.kinds import Part, Size
from steelyard.study.file.source import Source, parse_source, read_source

Kind = Literal["guest", "container"]
Kinds = Literal["guest", "container", "both"]
Init = Literal["engine", "systemd"]
EPOCH_S = 1_700_000_000
"""Every time stamp inside an image: 2023-11-14, so that two builds are alike."""

FINISH = "finish-tree.sh"
"""The only script that a container's tree depends on, too."""
LEFT_OUT = ("/usr/share/man/*", "/usr/share/doc/*", "/usr/share/info/*", "/usr/share/locale/*")
GUEST_PACKAGES = ("busybox-static", "iproute2", "kmod", "mount", "procps")
SYSTEMD_PACKAGES = ("dbus", "systemd-sysv", "udev")
BOOT_MODULES = (
    *("virtio_pci", "virtio_blk", "virtio_net", "virtio_console", "virtio_scsi"),
    *("sd_mod", "crc32c_generic", "ext4"),
)
OPTIONAL_MODULES = ("ahci", "ata_piix", "e1000", "e1000e", "8139cp", "8139too", "vmgenid")
"""What other disk buses and network cards need; not every kernel has them."""

Suite = Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]*$")]
Package = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9+.-]+(=[A-Za-z0-9.+:~-]+)?$")]
Module = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]+$")]
Unit = Annotated[str, Field(pattern=r"^[A-Za-z0-9@:._-]+$")]
FilePath = Annotated[str, Field(pattern=r"^(/\.?[A-Za-z0-9@_+-][A-Za-z0-9@_.+-]*)+$")]


_NOT_IN_THE_IMAGE = {"summary", "suites", "frozen_mirror"}
"""Keys that decide none of its bits."""
_FILES = (".yaml", ".yml")


def _octal(value: object) -> object:
    return int(value, 8) if isinstance(value, str) and re.fullmatch(r"[0-7]{3,4}", value) else value


class FilePart(Part):
    """A file that is put into the image."""

    content: str
    """All that the file holds."""
    mode: Annotated[
        int, BeforeValidator(_octal, json_schema_input_type=str), Field(ge=0, le=0o7777)
    ] = 0o644
    """Permission bits as text in octal, such as `"0755"`."""


class Recipe(Part):
    """A recipe as written. Everything that decides the bits of the image stands in it."""

    summary: Annotated[str, Field(min_length=1)]
    """What the image is for, in one line."""
    kind: Kinds = "both"
    """What can be built of it: a disk for a virtual machine, the tree of a container, or both."""
    suite: Suite = "bookworm"
    """Release of Debian the packages are taken from."""
    suites: dict[Suite, Kinds] = Field(default={})
    """Other releases that the image `NAME@SUITE` is built of, and what can be built of each."""
    mirror: Annotated[str, Field(pattern=r"^(https?|file|copy)://\S+$")] | None = None
    """Where the packages come from; without it Debian's own servers."""
    frozen_mirror: bool = False
    """The mirror stands still: its lists are taken although they say that they have expired."""
    variant: Literal["essential", "apt", "minbase"] = "essential"
    """How much mmdebstrap puts in before the packages."""
    packages: tuple[Package, ...] = ()
    """Packages to be installed, `NAME` or `NAME=VERSION`."""
    init: Init = "engine"
    """What runs first in a guest: the engine alone, or systemd."""
    kernel: Package = "linux-image-cloud-amd64"
    """Package of the guest's kernel."""
    modules: tuple[Module, ...] = ()
    """Modules of that kernel that are put into a guest, with all they need."""
    disk_size: Size = 2 * 1024**3
    """Size of a guest's disk; what is not used takes no room."""
    masked: tuple[Unit, ...] = ()
    """Units of systemd that never start, so that nothing happens by itself."""
    debconf: tuple[Annotated[str, Field(pattern=r"^\S+ \S+ \S+( .*)?$")], ...] = ()
    """Answers to what packages ask when they are installed: `PACKAGE QUESTION TYPE ANSWER`."""
    removed: tuple[FilePath, ...] = ()
    """Files that packages make and that must not be kept, such as keys made by chance."""
    files: dict[FilePath, FilePart] = Field(default={})
    """Files that are put in, by their path."""

    def kinds(self) -> tuple[Kind, ...]:
        return ("guest", "container") if self.kind == "both" else (self.kind,)


class NamedRecipe(BaseModel):
    """A recipe with its name: that of the catalogue, or of the file it was read from."""

    model_config = ConfigDict(frozen=True, defer_build=True)
    name: str
    recipe: Recipe

    def digest(self, kind: Kind) -> str:
        """SHA-256 over all that decides the bits: the recipe, the kind, and how it is built."""
        told: dict[str, object] = {
            "kind": kind,
            "epoch_s": EPOCH_S,
            "left_out": LEFT_OUT,
            "finish": scripts()[FINISH],
        }
        if kind == "guest":
            told |= {
                "scripts": scripts(),
                "packages": (GUEST_PACKAGES, SYSTEMD_PACKAGES),
                "modules": (BOOT_MODULES, OPTIONAL_MODULES),
            }
        written = self.recipe.model_dump(mode="json", exclude=_NOT_IN_THE_IMAGE)
        return hashlib.sha256(json.dumps([told, written], sort_keys=True).encode()).hexdigest()

    def folder_name(self, kind: Kind) -> str:
        """Name of the folder that keeps what is built."""
        return f"{self.name}-{self.digest(kind)[:16]}"


def scripts() -> dict[str, str]:
    """The scripts that build and start an image, by name; part of every digest."""
    folder = resources.files("steelyard.systems.images").joinpath("scripts")
    files = sorted(folder.iterdir(), key=lambda file: file.name)
    return {file.name: file.read_text(encoding="utf-8") for file in files}


def names() -> tuple[str, ...]:
    """Names of the recipes that are shipped, sorted."""
    folder = resources.files("steelyard.catalogue").joinpath("images")
    found = (file.name for file in folder.iterdir())
    return tuple(sorted(name.removesuffix(".yaml") for name in found if name.endswith(".yaml")))


def spellings() -> Iterator[str]:
    """What may be written for an image of a shipped recipe: its name, and one for each release."""
    for name in names():
        yield name
        yield from (f"{name}@{suite}" for suite in shipped(name).recipe.suites)


def shipped(name: str) -> NamedRecipe:
    """The recipe of this name, which must be one of :func:`names`."""
    file = resources.files("steelyard.catalogue").joinpath("images", f"{name}.yaml")
    return _read(name, parse_source(file.read_bytes(), Path(f"{name}.yaml"), "recipe"))


def find_recipe(name: str) -> NamedRecipe:
    """A recipe by its name in the catalogue, or of a file (a name that ends in ``.yaml``).

    Behind ``@`` stands the release of Debian, where it is to be another than the recipe's.

    Raises:
        StudyError: the file has mistakes, with the place of each.
        SystemFailure: ``image_missing``: there is none of this name, or not of this release.
    """
    base, suite = _parts(name)
    if base.endswith(_FILES):
        path = Path(base)
        try:
            found = _read(path.stem, read_source(path, "recipe"))
        except StudyError as error:
            raise StudyError(error.complaints, slug="image-recipe-is-wrong") from error
    elif base in names():
        found = shipped(base)
    else:
        hint = choice_hint(base, names(), "recipes that are shipped")
        raise SystemFailure("image_missing", f"there is no recipe `{base}`", hint)
    return found if suite in (None, found.recipe.suite) else _of_release(found, suite or "")


def is_recipe(name: str) -> bool:
    """Whether this names a recipe, that is shipped or of a file."""
    base, _ = _parts(name)
    return base.endswith(_FILES) or base in names()


def _parts(name: str) -> tuple[str, str | None]:
    """Recipe and release of ``NAME@SUITE``."""
    found = re.fullmatch(r"(.+)@([a-z][a-z0-9-]*)", name)
    return (name, None) if found is None else (found[1], found[2])


def _of_release(named: NamedRecipe, suite: str) -> NamedRecipe:
    """The same recipe with the packages of another release."""
    recipe = named.recipe
    if suite not in recipe.suites:
        hint = choice_hint(suite, (recipe.suite, *recipe.suites), "releases that it is for")
        message = f"the recipe `{named.name}` is not for the release `{suite}`"
        raise SystemFailure("image_missing", message, hint)
    own = recipe.model_copy(update={"suite": suite, "kind": recipe.suites[suite]})
    return NamedRecipe(name=f"{named.name}-{suite}", recipe=own)


def _read(name: str, source: Source) -> NamedRecipe:
    try:
        return NamedRecipe(name=name, recipe=Recipe.model_validate(source.tree))
    except ValidationError as error:
        complaints = Complaints(source)
        add_validation(complaints, error, Recipe)
        raise StudyError(complaints.ordered()) from error
