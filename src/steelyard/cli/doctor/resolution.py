"""What a margin would cost on this machine, for ``steelyard doctor --margin``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import typer

from steelyard import units
from steelyard.cli.doctor.rules import Check
from steelyard.hosts.host import Host
from steelyard.judge.analyses.planning.resolution import resolutions
from steelyard.report.sentences.terminal.resolution import resolution_lines
from steelyard.study.model import TrialsSpec
from steelyard.trial.attempt.outcomes import TrialFailed
from steelyard.trial.attempt.reference_kernel import noise_at_rest

_TIME_S = 0.3


def read_margin(written: str) -> float:
    """The share that was typed.

    Raises:
        typer.BadParameter: it is none between 0 and 100 %.
    """
    try:
        ratio = float(units.parse(written, "share"))
    except units.UnitError as error:
        raise typer.BadParameter(f"--margin: {error.message}; {error.hint}") from error
    if not 0 < ratio < 1:
        raise typer.BadParameter("--margin lies between 0 % and 100 %, as `2%`")
    return ratio


def resolution_checks(host: Host, folder: Path, margin: float) -> Iterator[Check]:
    """Runs the reference kernel two dozen times and reports what it can resolve."""
    try:
        rows = noise_at_rest(host, str(folder), _TIME_S)
    except TrialFailed as failed:
        yield Check("resolution", "bad", failed.message, failed.hint)
        return
    yield Check("margin", "good", units.format_margin(margin))
    for line in resolution_lines(resolutions(rows, TrialsSpec(margin_ratio=margin))):
        yield Check("resolution", "good", line)
