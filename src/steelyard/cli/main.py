"""The command line: one table of commands."""

from __future__ import annotations

from typing import Annotated

import typer

import steelyard
from steelyard.cli import (
    compare,
    doctor,
    engine,
    init,
    judge,
    plan,
    platform,
    report,
    restore,
    run,
    service,
    trace,
)
from steelyard.cli.ending import ends_well
from steelyard.cli.image import images

app = typer.Typer(
    name="steelyard",
    help="Compare systems: one study file, randomised trials, a verdict that holds.",
    epilog="Start with `steelyard init`, then `steelyard plan study.yaml`, then `steelyard run`.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
)

_PASS_ON = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}

app.command("init")(ends_well(init.init))
app.command("plan")(ends_well(plan.plan))
app.command("run")(ends_well(run.run))
app.command("resume")(ends_well(run.resume))
app.command("restore")(ends_well(restore.restore))
app.command("report")(ends_well(report.report))
app.command("compare")(ends_well(compare.compare))
app.command("judge")(ends_well(judge.judge))
app.command("doctor")(ends_well(doctor.doctor))
app.command("trace")(ends_well(trace.trace))
app.add_typer(images)
app.add_typer(platform.app, name="platform")
app.add_typer(service.app, name="service")
app.command("load", context_settings=_PASS_ON, add_help_option=False)(ends_well(engine.load))
app.command("sink", context_settings=_PASS_ON, add_help_option=False)(ends_well(engine.sink))
app.command("kernel", context_settings=_PASS_ON, add_help_option=False)(ends_well(engine.kernel))


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"steelyard {steelyard.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    _version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version.", callback=_print_version, is_eager=True
        ),
    ] = False,
) -> None:
    pass
