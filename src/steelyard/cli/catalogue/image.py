"""``steelyard image``: build, list and show the images that systems start from."""

from __future__ import annotations

from typing import Annotated

import typer

from steelyard.cli.console import say, say_json
from steelyard.cli.ending import with_exit_code
from steelyard.cli.loading import PLAIN
from steelyard.cli.options import JsonOption
from steelyard.errors import ExitCode

images = typer.Typer(
    name="image",
    help="Build the images that virtual machines and containers start from.",
    no_args_is_help=True,
    **PLAIN,
)

Name = Annotated[
    str,
    typer.Argument(
        help="A recipe by name, or a file that ends in `.yaml`; `NAME@SUITE` of another release."
    ),
]
KindAsked = Annotated[
    str | None,
    typer.Option("--kind", help="`guest` or `container`; a guest where a recipe is for both."),
]

On = Annotated[
    str,
    typer.Option("--on", help="The machine that will carry the system: `ssh://[USER@]HOST`."),
]

HERE = "local"
"""The name of this machine in ``hosts/machines.py``."""


@images.command("build")
@with_exit_code
def build(name: Name, kind: KindAsked = None, on: On = HERE) -> int:
    """Build an image from Debian's packages; one of the same recipe is not built again.

    For another machine the image of this one is copied; where there is none it is built there.
    """
    from steelyard.cli.catalogue import images_of_machines as own
    from steelyard.hosts.machines import Machines

    named = own.named_recipe(name)
    with Machines() as machines:
        image = own.made(machines, on, named, own.kind_of(named, kind))
    say(image.folder)
    return ExitCode.DONE


@images.command("list")
@with_exit_code
def list_images(on: On = HERE, json: JsonOption = False) -> int:
    """List the recipes, and which of them have been built on a machine."""
    from steelyard.cli.catalogue import images_of_machines as own
    from steelyard.hosts.machines import Machines
    from steelyard.systems.images import recipe
    from steelyard.systems.images.store import find_built

    rows = []
    with Machines() as machines:
        host = own.opened(machines, on)
        for name in recipe.spellings():
            named = recipe.find_recipe(name)
            for kind in named.recipe.kinds():
                built = find_built(host, named, kind) is not None
                rows.append((name, kind, built, named.recipe.summary))
    if json:
        keys = ("name", "kind", "built", "summary")
        say_json([dict(zip(keys, row, strict=True)) for row in rows])
        return ExitCode.DONE
    for name, kind, built, summary in rows:
        say(f"{name:23} {kind:10} {'built' if built else '-':6} {summary}")
    return ExitCode.DONE


@images.command("show")
@with_exit_code
def show(name: Name, kind: KindAsked = None) -> int:
    """Show a recipe, and what was built of it: files, digests, versions of packages."""
    from steelyard.cli.catalogue import images_of_machines as own
    from steelyard.hosts.machines import LOCAL, Machines
    from steelyard.systems.images.store import find_built

    named = own.named_recipe(name)
    chosen = own.kind_of(named, kind)
    with Machines() as machines:
        built = find_built(machines.open(LOCAL), named, chosen)
    for line in own.recipe_lines(named):
        say(line)
    say(f"digest: {named.digest(chosen)}")
    for line in own.built_lines(built):
        say(line)
    return ExitCode.DONE
