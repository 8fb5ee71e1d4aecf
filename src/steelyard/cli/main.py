"""The command line: one table of commands, and the only place where errors are printed."""

from __future__ import annotations

import os
import sys
import traceback
from typing import Annotated

import click
import typer

import steelyard
from steelyard.cli import compare, doctor, engine, init, plan, report, run
from steelyard.cli.console import print_error, stderr
from steelyard.cli.exit_codes import ExitCode
from steelyard.errors import SteelyardError

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

app.command("init")(init.init)
app.command("plan")(plan.plan)
app.command("run")(run.run)
app.command("resume")(run.resume)
app.command("restore")(run.restore)
app.command("report")(report.report)
app.command("compare")(compare.compare)
app.command("doctor")(doctor.doctor)
app.command("load", context_settings=_PASS_ON, add_help_option=False)(engine.load)
app.command("sink", context_settings=_PASS_ON, add_help_option=False)(engine.sink)


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


def main() -> None:
    """Runs the command line and ends the process with a documented exit code."""
    sys.exit(_run())


def _run() -> int:
    try:
        code = app(standalone_mode=False)
    except SteelyardError as error:
        print_error(error)
        return error.exit_code
    except (click.exceptions.Abort, KeyboardInterrupt):
        return ExitCode.INTERRUPTED
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except BrokenPipeError:
        # The reader of our output has gone: not a failure of ours, and nothing more to flush.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitCode.DONE
    except Exception:  # noqa: BLE001 - the last net: a defect of ours, said as such
        stderr.print(traceback.format_exc(), markup=False)
        stderr.print(
            "[bold red]error:[/] this is a defect of steelyard; the text above tells where"
        )
        return ExitCode.DEFECT
    return int(code or 0)
