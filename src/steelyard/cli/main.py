"""The command line: one table of commands."""

from __future__ import annotations

from typing import Annotated

import typer

import steelyard
from steelyard.cli.loading import Entry, table

_PASS_ON = {
    "context_settings": {
        "allow_extra_args": True,
        "ignore_unknown_options": True,
        "help_option_names": [],
    },
    "add_help_option": False,
}

COMMANDS = {
    "time": Entry(
        "timing.time:time",
        "Time commands against each other: `steelyard time 'A' 'B'`; no file is needed.",
    ),
    "versus": Entry(
        "timing.versus:versus",
        "Load servers that run already against each other: `steelyard versus URL URL -c 16`.",
    ),
    "init": Entry("init:init", "Write a commented study file that runs as it is."),
    "plan": Entry(
        "plan:plan", "Show cells, order and forecast of a study; without --timed it starts nothing."
    ),
    "run": Entry("run:run", "Run a study to its verdict and write the report."),
    "resume": Entry(
        "run:resume",
        "Go on with a run that was interrupted; no finished trial is lost or repeated.",
    ),
    "restore": Entry(
        "restore:restore", "Undo every change that interrupted runs left on a machine."
    ),
    "report": Entry("report:report", "Write the report of a run again and print its verdicts."),
    "compare": Entry(
        "report:compare",
        "Put the verdicts of two runs side by side; says where they agree and what differs.",
    ),
    "serve": Entry(
        "serve:serve",
        "Show runs, reports, pairs, histories and live runs in a browser, until Ctrl-C.",
    ),
    "judge": Entry(
        "judge:judge", "Judge trials that were measured elsewhere, as a study would be judged."
    ),
    "doctor": Entry(
        "doctor.command:doctor",
        "Check whether this machine can measure, and name what would disturb it.",
    ),
    "trace": Entry(
        "trace:trace",
        "Record many short trials of one and the same system: the noise of this machine.",
    ),
    "load": Entry(
        "engine:load",
        "Drive load at a server: "
        "`steelyard load http://HOST:PORT/ -c 64 -d 5s [-R RATE] [--json]`.",
        _PASS_ON,
    ),
    "sink": Entry(
        "engine:sink",
        "Serve as a target: `steelyard sink http --listen 127.0.0.1:8080`, also `sink smtp`.",
        _PASS_ON,
    ),
    "kernel": Entry(
        "engine:kernel",
        "Measure the machine alone: `steelyard kernel linpack`, `kernel ram`, `kernel reference`.",
        _PASS_ON,
    ),
    "image": Entry(
        "catalogue.image:images",
        "Build the images that virtual machines and containers start from.",
    ),
    "platform": Entry(
        "catalogue.platform:app", "Platforms: list them, show their files, check one of your own."
    ),
    "service": Entry(
        "catalogue.service:app",
        "List the servers a study can put under test, show one, check a file of your own.",
    ),
    "workload": Entry(
        "catalogue.workload:app", "List what a study can drive, show one, check a file of your own."
    ),
}

app = table(
    COMMANDS,
    name="steelyard",
    help="Compare systems: one study file, randomised trials, a verdict that holds.",
    epilog="Start with `steelyard init`, then `steelyard plan study.yaml`, then `steelyard run`.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
)


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
