"""``steelyard versus``: servers that run already against each other."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Annotated

import typer

from steelyard.cli.options import with_fields_of
from steelyard.cli.timing.options import Shared

RESPONSE_NAMES = ("throughput", "latency_p50", "latency_p99")
"""Those of ``timing/urls.py``, which is slow to load."""

UrlsArgument = Annotated[
    list[str],
    typer.Argument(
        metavar="URL...", help="Addresses; the first is the baseline. Options of load after `--`."
    ),
]
UsersOption = Annotated[int, typer.Option("--users", "-c", min=1, help="Users at a time.")]
WindowOption = Annotated[str, typer.Option("--window", help="How long each visit loads a server.")]
ResponseOption = Annotated[
    str, typer.Option("--response", help=f"What is judged: {', '.join(RESPONSE_NAMES)}.")
]


@with_fields_of(Shared)
def versus(
    urls: UrlsArgument,
    users: UsersOption = 16,
    window: WindowOption = "200 ms",
    response: ResponseOption = RESPONSE_NAMES[0],
    *,
    shared: Shared,
) -> int:
    """Load servers that run already against each other: `steelyard versus URL URL -c 16`."""
    from steelyard.cli.timing.outcome import Wanted, compare, declared
    from steelyard.engine.locate import check_version, find_engine
    from steelyard.timing.session import refuse_small_budget
    from steelyard.timing.urls import Urls

    addresses, options = _split(urls)
    if response not in RESPONSE_NAMES:
        known = ", ".join(RESPONSE_NAMES)
        raise typer.BadParameter(f"{response!r} is none of {known}", param_hint="--response")
    wanted = Wanted.of(shared)
    window_s = _seconds(window)
    declaration = replace(declared(response, shared, 0), rate=rate_of(options))
    refuse_small_budget(len(addresses), declaration, window_s)
    engine = find_engine()
    check_version(engine)
    load = ["-c", str(users), *options]
    subjects = Urls(engine, addresses, load, window_s, response)
    return compare(subjects, declaration, None, wanted)


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


def rate_of(options: list[str]) -> str | None:
    """The rate that ``-R`` or ``--rate`` fixes."""
    for option, following in pairwise([*options, ""]):
        if option in {"-R", "--rate"}:
            return following
        for start in ("--rate=", "-R"):
            if option.startswith(start):
                return option.removeprefix(start).removeprefix("=")
    return None


def _seconds(window: str) -> float:
    from steelyard.units import UnitError, parse

    try:
        seconds = float(parse(window, "duration"))
    except UnitError as error:
        raise typer.BadParameter(f"{error.message}; {error.hint}", param_hint="--window") from error
    if not 0.02 <= seconds <= 60:
        raise typer.BadParameter("20 ms to 60 s", param_hint="--window")
    return seconds
