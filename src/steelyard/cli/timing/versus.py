"""``steelyard versus``: servers that run already against each other."""

from __future__ import annotations

from typing import Annotated

import typer

from steelyard.cli.run import FailIfOption
from steelyard.cli.timing.outcome import (
    BudgetOption,
    ExportCsvOption,
    ExportJsonOption,
    ExportMarkdownOption,
    ExportTrialsOption,
    JsonOption,
    MarginOption,
    QuietOption,
    SeedOption,
    VerboseOption,
    Wanted,
    compare,
    declared,
)
from steelyard.engine.locate import check_version, find_engine
from steelyard.timing.urls import MEDIAN, TAIL, THROUGHPUT, Urls
from steelyard.units import UnitError, parse

_RESPONSES = (THROUGHPUT, MEDIAN, TAIL)

UrlsArgument = Annotated[
    list[str],
    typer.Argument(
        metavar="URL...", help="Addresses; the first is the baseline. Options of load after `--`."
    ),
]
UsersOption = Annotated[int, typer.Option("--users", "-c", min=1, help="Users at a time.")]
WindowOption = Annotated[str, typer.Option("--window", help="How long each visit loads a server.")]
ResponseOption = Annotated[
    str, typer.Option("--response", help="What is judged: throughput, latency_p50, latency_p99.")
]


def versus(  # noqa: PLR0917 - typer reads options from the parameters
    urls: UrlsArgument,
    users: UsersOption = 16,
    window: WindowOption = "200 ms",
    margin: MarginOption = "2%",
    budget: BudgetOption = None,
    response: ResponseOption = THROUGHPUT.name,
    seed: SeedOption = None,
    export_json: ExportJsonOption = None,
    export_csv: ExportCsvOption = None,
    export_md: ExportMarkdownOption = None,
    export_trials: ExportTrialsOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
    fail_if: FailIfOption = None,
) -> int:
    """Load servers that run already against each other: `steelyard versus URL URL -c 16`."""
    addresses, options = _split(urls)
    if response not in [each.name for each in _RESPONSES]:
        known = ", ".join(each.name for each in _RESPONSES)
        raise typer.BadParameter(f"{response!r} is none of {known}", param_hint="--response")
    wanted = Wanted.of(
        exports=(export_json, export_csv, export_md, export_trials),
        json=as_json,
        quiet=quiet,
        verbose=verbose,
        fail_if=fail_if,
    )
    engine = find_engine()
    check_version(engine)
    subjects = Urls(engine, addresses, ["-c", str(users), *options], _seconds(window))
    return compare(subjects, declared(response, margin, budget, seed, 0), None, wanted)


def _split(words: list[str]) -> tuple[dict[str, str], list[str]]:
    """Addresses by their name, and what follows them for the engine."""
    count = next((i for i, word in enumerate(words) if word.startswith("-")), len(words))
    urls, options = words[:count], words[count:]
    if strange := next((url for url in urls if "://" not in url), None):
        raise typer.BadParameter(f"{strange!r} is no URL", param_hint="URL")
    if len(urls) < 2:
        raise typer.BadParameter("a comparison needs two addresses", param_hint="URL")
    names = [
        f"{url} #{urls[:i].count(url) + 1}" if url in urls[:i] else url
        for i, url in enumerate(urls)
    ]
    return dict(zip(names, urls, strict=True)), options


def _seconds(window: str) -> float:
    try:
        seconds = float(parse(window, "duration"))
    except UnitError as error:
        raise typer.BadParameter(f"{error.message}; {error.hint}", param_hint="--window") from error
    if not 0.02 <= seconds <= 60:
        raise typer.BadParameter("20 ms to 60 s", param_hint="--window")
    return seconds
