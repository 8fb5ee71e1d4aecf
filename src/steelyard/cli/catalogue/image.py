"""``steelyard image``: build, list and show the images that systems start from."""

from __future__ import annotations

from typing import Annotated

import typer

from steelyard.cli.console import say, tell
from steelyard.cli.ending import with_exit_code
from steelyard.errors import ExitCode, HostError
from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host
from steelyard.hosts.machines import LOCAL, Machines
from steelyard.hosts.ssh import SCHEME
from steelyard.systems.images import recipe
from steelyard.systems.images.build import build_image
from steelyard.systems.images.copy import copy_image
from steelyard.systems.images.recipe import Kind, NamedRecipe
from steelyard.systems.images.store import Image, find_built
from steelyard.units import format_bytes

images = typer.Typer(
    name="image",
    help="Build the images that virtual machines and containers start from.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)

Name = Annotated[str, typer.Argument(help="A recipe by name, or a file that ends in `.yaml`.")]
KindAsked = Annotated[
    str | None,
    typer.Option("--kind", help="`guest` or `container`; needed where a recipe is for both."),
]

On = Annotated[
    str,
    typer.Option("--on", help="The machine that will carry the system: `ssh://[USER@]HOST`."),
]


@images.command("build")
@with_exit_code
def build(name: Name, kind: KindAsked = None, on: On = LOCAL) -> int:
    """Build an image from Debian's packages; one of the same recipe is not built again.

    For another machine the image of this one is copied; where there is none it is built there.
    """
    named = _named(name)
    with Machines() as machines:
        image = _attempt(machines, on, named, _kind(named, kind))
    say(image.folder)
    return ExitCode.DONE


@images.command("list")
@with_exit_code
def list_images(on: On = LOCAL) -> int:
    """List the recipes, and which of them have been built on a machine."""
    with Machines() as machines:
        host = _open(machines, on)
        for name in recipe.names():
            named = recipe.shipped(name)
            for kind in named.recipe.kinds():
                built = find_built(host, named, kind)
                say(f"{name:16} {kind:10} {'built' if built else '-':6} {named.recipe.summary}")
    return ExitCode.DONE


@images.command("show")
@with_exit_code
def show(name: Name, kind: KindAsked = None) -> int:
    """Show a recipe, and what was built of it: files, digests, versions of packages."""
    named = _named(name)
    chosen = _kind(named, kind)
    with Machines() as machines:
        built = find_built(machines.open(LOCAL), named, chosen)
    for key, value in named.recipe.model_dump(mode="json", exclude_defaults=True).items():
        say(f"{key}: {value}")
    say(f"digest: {named.digest(chosen)}")
    for line in _built_lines(built):
        say(line)
    return ExitCode.DONE


def _built_lines(built: Image | None) -> list[str]:
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


def _named(name: str) -> NamedRecipe:
    try:
        return recipe.find_recipe(name)
    except SystemFailure as failure:
        raise _error(failure) from failure


def _open(machines: Machines, address: str) -> Host:
    if address != LOCAL and not address.startswith(SCHEME):
        raise typer.BadParameter(f"`{address}` is no machine: say --on ssh://[USER@]HOST")
    try:
        return machines.open(address)
    except SystemFailure as failure:
        raise _error(failure) from failure


def _attempt(machines: Machines, on: str, named: NamedRecipe, kind: Kind) -> Image:
    host = _open(machines, on)
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


def _kind(named: NamedRecipe, asked: str | None) -> Kind:
    kinds = named.recipe.kinds()
    if asked is None and len(kinds) == 1:
        return kinds[0]
    for kind in kinds:
        if kind == asked:
            return kind
    raise typer.BadParameter(
        f"`{named.name}` can be a {' or a '.join(kinds)}: say --kind {kinds[0]}"
    )
