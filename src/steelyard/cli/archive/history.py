"""``steelyard history``: the releases of a study in their order, and which of them is slower."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from steelyard.cli.console import say, tell
from steelyard.cli.options import ClusterOption

if TYPE_CHECKING:
    from steelyard.records.archive import Run
    from steelyard.records.own_files.stored_series import StoredSeries
    from steelyard.records.results.chain import Chain


def history(  # noqa: PLR0917 - typer reads options from the parameters
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN...",
            help="Folders of runs in the order of their releases, or that of a study's runs.",
            show_default=False,
        ),
    ],
    comparison: Annotated[
        str | None,
        typer.Option(
            "--comparison", metavar="KEY", help="Which comparison of the runs; the first."
        ),
    ] = None,
    rate: Annotated[
        str,
        typer.Option(
            "--rate", help="Of what is named, at most this share is not slower, on average."
        ),
    ] = "5%",
    beside: Annotated[
        list[Path] | None,
        typer.Option(
            "--beside", help="CSV of figures stored elsewhere: shown, not tested; may be repeated."
        ),
    ] = None,
    cluster: ClusterOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, nothing else.")] = False,
) -> None:
    """Show releases as a chain of ratios, each measured in one run, and name the slower ones."""
    from steelyard.cluster import opened
    from steelyard.history.chain import chain_of
    from steelyard.records.own_files.stored_series import read_series
    from steelyard.report.sentences.terminal.chain import (
        LINK_HEAD,
        chain_lines,
        link_cells,
        series_line,
    )
    from steelyard.web.points import point

    share = _share(rate)
    stored = [series for path in beside or () for series in read_series(path)]
    with opened(cluster) as mapped:
        points = list(mapped(point, _runs(paths)))
    chain = chain_of(points, comparison, share)
    if as_json:
        say(json.dumps(_document(chain, stored), indent=1))
        return
    for line in _table([LINK_HEAD, *map(link_cells, chain.links)]):
        say(line)
    say()
    for line in [*chain_lines(chain), *map(series_line, stored)]:
        say(line)
    tell(f"{chain.study}: {chain.title}")


def _document(chain: Chain, stored: list[StoredSeries]) -> dict[str, object]:
    return {
        "schema_version": 1,
        **asdict(chain),
        "named": [link.release for link in chain.named],
        "anchor_is_due": chain.anchor_is_due,
        "not_randomised": [asdict(series) for series in stored],
    }


def _runs(paths: list[Path]) -> list[Run]:
    """Those that are named, and all of a study's folder, by time."""
    from steelyard.records.archive import open_run, runs_of

    found: list[Run] = []
    for path in paths:
        found += runs_of(path) or [open_run(path)]
    return found


def _share(text: str) -> float:
    from steelyard.units import UnitError, parse

    try:
        share = float(parse(text, "share"))
    except UnitError as error:
        raise typer.BadParameter(f"{error.message}; {error.hint}", param_hint="--rate") from error
    if not 0 < share < 1:
        raise typer.BadParameter("give a share between 0 and 100 %", param_hint="--rate")
    return share


def _table(rows: list[tuple[str, ...]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
