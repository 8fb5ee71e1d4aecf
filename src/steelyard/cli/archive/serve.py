"""``steelyard serve``: a results folder as web pages."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Annotated

import typer

from steelyard.cli.console import say, tell
from steelyard.cli.options import RESULTS


def serve(
    results: Annotated[
        Path,
        typer.Argument(
            envvar="STEELYARD_RESULTS",
            help="Folder that keeps the runs; nothing in it is changed.",
        ),
    ] = RESULTS,
    listen: Annotated[
        str,
        typer.Option(
            "--listen",
            help="Address and port; port 0 is a free one. Others than loopback need a token.",
        ),
    ] = "127.0.0.1:8080",
    token_file: Annotated[
        Path | None,
        typer.Option(
            "--token-file",
            help="File with a word that every reader must give; no one but you may read it.",
        ),
    ] = None,
    name: Annotated[
        list[str] | None,
        typer.Option("--name", help="Host name that readers use, besides addresses and localhost."),
    ] = None,
) -> None:
    """Show runs, reports, pairs, histories and live runs in a browser, until Ctrl-C."""
    from steelyard.cli.runs.queue_states import standing_of
    from steelyard.report.figures import counted
    from steelyard.web.access import token_in
    from steelyard.web.reading import results_folder
    from steelyard.web.server import Place
    from steelyard.web.server import serve as listen_and_serve

    try:
        place = Place.of(listen)
    except ValueError as error:
        raise typer.BadParameter(f"--listen: {error}") from error
    if place.is_open and token_file is None:
        raise typer.BadParameter(
            f"--listen {listen} is open to other machines: give --token-file FILE as well"
        )
    token = None if token_file is None else token_in(token_file)
    folder = results_folder(results)
    own = [socket.gethostname(), socket.getfqdn()] if place.is_open else []

    def listening(address: str, runs: int) -> None:
        say(address)
        tell(f"{counted(runs, 'run')} of {folder}; end with Ctrl-C")

    listen_and_serve(folder, place, token, [*own, *(name or [])], listening, standing_of)
