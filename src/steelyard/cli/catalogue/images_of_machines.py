"""What ``steelyard image`` does on this machine and on others."""

from __future__ import annotations

import typer

from steelyard.cli.console import tell
from steelyard.errors import HostError
from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host
from steelyard.hosts.machines import LOCAL, Machines
from steelyard.hosts.ssh import SCHEME
from steelyard.systems.images import recipe
from steelyard.systems.images.build import build_image
from steelyard.systems.images.copy import copy_image
from steelyard.systems.images.recipe import Kind, NamedRecipe
from steelyard.systems.images.store import Image
from steelyard.units import format_bytes


def built_lines(built: Image | None) -> list[str]:
    if built is None:
        return ["built: no"]
    manifest = built.manifest
    files = [
        f"  {name}  {format_bytes(file.size_bytes)}  sha256 {file.sha256}"
        for name, file in manifest.files.items()
    ]
    versions = [f"  {name} {version}" for name, version in manifest.packages.items()]
    return [
        f"built: {built.folder}, in {manifest.took_s:.0f} s",
        f"engine: {manifest.engine.version}, sha256 {manifest.engine.sha256}",
        *([f"kernel release: {manifest.kernel}"] if manifest.kernel else []),
        *("files:", *files),
        *("packages and versions:", *versions),
    ]


def recipe_lines(named: NamedRecipe) -> list[str]:
    """What a recipe says besides defaults, a key a line."""
    written = named.recipe.model_dump(mode="json", exclude_defaults=True)
    if "disk_size" in written:
        written["disk_size"] = format_bytes(named.recipe.disk_size)
    return [f"{key}: {_in_words(value)}" for key, value in written.items()]


def _in_words(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key}: {each}" for key, each in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def named_recipe(name: str) -> NamedRecipe:
    try:
        return recipe.find_recipe(name)
    except SystemFailure as failure:
        raise _error(failure) from failure


def opened(machines: Machines, address: str) -> Host:
    if address != LOCAL and not address.startswith(SCHEME):
        raise typer.BadParameter(f"`{address}` is no machine: say --on ssh://[USER@]HOST")
    try:
        return machines.open(address)
    except SystemFailure as failure:
        raise _error(failure) from failure


def made(machines: Machines, on: str, named: NamedRecipe, kind: Kind) -> Image:
    host = opened(machines, on)
    try:
        if on != LOCAL:
            copied = copy_image(machines.open(LOCAL), host, named, kind, tell)
            if copied is not None:
                return copied
        return build_image(host, named, kind, tell)
    except SystemFailure as failure:
        for line in failure.last_words.strip().splitlines()[-8:]:
            tell(f"  {line}")
        raise _error(failure) from failure


def _error(failure: SystemFailure) -> HostError:
    return HostError(failure.message, hint=failure.hint, slug="image-cannot-be-built")


def kind_of(named: NamedRecipe, asked: str | None) -> Kind:
    """The kind that is asked for; a guest, where a recipe is for both and nothing is."""
    kinds = named.recipe.kinds()
    for kind in kinds:
        if asked in {None, kind}:
            return kind
    raise typer.BadParameter(f"`{named.name}` can be a {' or a '.join(kinds)}, not a {asked}")
