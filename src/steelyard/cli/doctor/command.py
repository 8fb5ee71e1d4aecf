"""``steelyard doctor``: whether this machine can run a study, and what to do where it cannot."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from steelyard.cli.options import RESULTS
from steelyard.errors import ExitCode


def doctor(  # noqa: PLR0917 - typer reads options from the parameters
    study: Annotated[
        Path | None,
        typer.Argument(
            metavar="STUDY",
            help="Also: what does this study need of its machines, and what do its servers turn "
            "away?",
            show_default=False,
        ),
    ] = None,
    results: Annotated[
        Path,
        typer.Option(
            "--results", envvar="STEELYARD_RESULTS", help="Folder that would keep the runs."
        ),
    ] = RESULTS,
    margin: Annotated[
        str | None,
        typer.Option("--margin", help="Also: what would a margin like `2%` cost on this machine?"),
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
    fix: Annotated[
        bool,
        typer.Option(
            "--fix", help="Change what a setting changes safely (governor, huge pages, sysctls)."
        ),
    ] = False,
    undo: Annotated[bool, typer.Option("--undo", help="Undo all that --fix changed.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print all checks as JSON.")] = False,
) -> int:
    """Check whether this machine can measure, and name what would disturb it."""
    from steelyard.cli.doctor.fixing import undone
    from steelyard.cli.doctor.platform import examine

    others = {"STUDY": study, "--margin": margin, "--variant": variant, "--json": as_json}
    if platform_name is not None:
        _refuse_beside("--platform", others | {"--fix": fix, "--undo": undo})
        return examine(platform_name, [*(settings or ()), *([f"image={image}"] if image else ())])
    if undo and fix:
        raise typer.BadParameter("--fix and --undo exclude each other")
    if undo:
        _refuse_beside("--undo", others | {"--set": settings, "--image": image})
        return undone()
    if variant is not None and study is None:
        raise typer.BadParameter("--variant belongs to a STUDY")
    if settings or image:
        raise typer.BadParameter("--set and --image belong to --platform NAME")
    return _examined(results, margin, study, variant, fix=fix, as_json=as_json)


def _refuse_beside(option: str, others: Mapping[str, object]) -> None:
    """What would not be heeded."""
    given = [name for name, value in others.items() if value]
    if given:
        raise typer.BadParameter(f"{option} and {', '.join(given)} exclude each other")


def _examined(
    results: Path,
    margin: str | None,
    study: Path | None,
    variant: str | None,
    *,
    fix: bool,
    as_json: bool,
) -> int:
    """This machine, those of a study, and what that needs of them."""
    from steelyard.cli.doctor.examination import checked, existing, printed
    from steelyard.cli.doctor.fixing import fixed
    from steelyard.cli.doctor.preflight import preflight_checks
    from steelyard.cli.doctor.resolution import read_margin
    from steelyard.study.read import read_runnable_study

    ratio = None if margin is None else read_margin(margin)
    read = None if study is None else read_runnable_study(study, variant=variant)
    if fix:
        fixed(checked(results, None, read))
    checks = checked(results, ratio, read)
    if read is not None and study is not None:
        told = {(check.machine, check.name) for check in checks}
        needs = preflight_checks(read, study, variant, existing(results.absolute()))
        checks += [check for check in needs if (check.machine, check.name) not in told]
    printed(checks, as_json=as_json)
    return ExitCode.OPERATOR if any(check.grade == "bad" for check in checks) else ExitCode.DONE
