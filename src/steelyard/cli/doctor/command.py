"""``steelyard doctor``: whether this machine can run a study, and what to do where it cannot."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from steelyard.cli.console import say
from steelyard.cli.doctor.limits import limit_checks
from steelyard.cli.doctor.machine import Check, load_check, machine_checks
from steelyard.cli.doctor.platform import MARKS, examine
from steelyard.cli.doctor.resolution import read_margin, resolution_checks
from steelyard.engine.agent import AgentRefusal
from steelyard.engine.locate import check_version, find_engine
from steelyard.errors import ExitCode, SteelyardError
from steelyard.hosts.host import Host
from steelyard.hosts.machines import LOCAL, open_machine
from steelyard.units import format_bytes


def doctor(  # noqa: PLR0917 - typer reads options from the parameters
    results: Annotated[
        Path, typer.Option("--results", help="Folder that would keep the runs.")
    ] = Path("results"),
    margin: Annotated[
        str | None,
        typer.Option("--margin", help="Also: what would a margin like `2%` cost on this machine?"),
    ] = None,
    study: Annotated[
        Path | None,
        typer.Option("--study", help="Also: what do the servers of this study turn away?"),
    ] = None,
    variant: Annotated[
        str | None, typer.Option("--variant", help="A variant of that study.")
    ] = None,
    platform_name: Annotated[
        str | None,
        typer.Option("--platform", help="Check this platform: make a system, use it, remove it."),
    ] = None,
    image: Annotated[
        str | None, typer.Option("--image", help="As `--set image=...`, for --platform.")
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", help="A setting of the platform as KEY=VALUE; may be repeated."),
    ] = None,
) -> int:
    """Check whether this machine can measure, and name what would disturb it."""
    if platform_name is not None:
        return examine(platform_name, [*(settings or ()), *([f"image={image}"] if image else ())])
    if variant is not None and study is None:
        raise typer.BadParameter("--variant belongs to --study PATH")
    if settings or image:
        raise typer.BadParameter("--set and --image belong to --platform NAME")
    ratio = None if margin is None else read_margin(margin)
    checks = [*_engine_checks()]
    if all(check.grade != "bad" for check in checks):
        host = open_machine(LOCAL)
        try:
            folder = _existing(results.absolute())
            load = load_check(os.getloadavg()[0], os.cpu_count())
            checks += [*machine_checks(host.facts()), load, _space(host, folder)]
            if ratio is not None:
                checks += resolution_checks(host, folder, ratio)
        finally:
            host.close()
    if study is not None:
        checks += limit_checks(study, variant)
    for check in checks:
        say(f"{MARKS[check.grade]}  {check.name}: {check.seen}")
        if check.advice and check.grade != "good":
            say(f"        {check.advice}")
    return ExitCode.OPERATOR if any(check.grade == "bad" for check in checks) else ExitCode.DONE


def _engine_checks() -> Iterator[Check]:
    system = platform.system()
    yield Check("system", "good" if system == "Linux" else "bad", system, "Linux is needed")
    try:
        engine = find_engine()
        yield Check("engine", "good", f"{engine}, version {check_version(engine)}")
    except SteelyardError as error:
        yield Check("engine", "bad", error.message, error.hint)


def _existing(folder: Path) -> Path:
    """The folder, or the nearest above it that is there already."""
    return next(each for each in (folder, *folder.parents) if each.exists())


def _space(host: Host, folder: Path) -> Check:
    try:
        facts = host.path_facts(str(folder))
    except AgentRefusal as refusal:
        return Check("disk of the results", "bad", refusal.failure.message, refusal.failure.hint)
    if facts.free_bytes is None:
        return Check("disk of the results", "note", "free space not told", "look with df")
    seen = f"{facts.filesystem or 'unknown filesystem'} on {facts.device or 'no block device'}"
    seen += f", {format_bytes(facts.free_bytes)} free"
    if facts.device is None:
        advice = "no disk lies behind this folder: a study of disks needs --results on one"
        return Check("disk of the results", "note", seen, advice)
    enough = facts.free_bytes > 1024**3
    return Check("disk of the results", "good" if enough else "note", seen, "free at least 1 GiB")
