"""What is known of the noise of a visit: from an earlier run, or from a noise recording."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import typer

from steelyard.judge.analyses.planning.resolution import noise_of
from steelyard.judge.findings import RunFindings
from steelyard.records.archive import open_run
from steelyard.report.from_run import find, stored
from steelyard.traces.bank import read_bank


def noise_log(path: Path) -> float:
    """The standard deviation of one visit, as a natural logarithm; of several the largest.

    ``path`` is the folder of a run, or of a study's runs, a ``findings.json``, or a recording.

    Raises:
        RecordError: it is none of these.
        typer.BadParameter: too little was measured to know its noise.
    """
    if path.suffix == ".json":
        found = _of_findings(stored(path))
    elif path.is_dir():
        found = _of_findings(find(open_run(path)))
    else:
        values = [trial.value for trial in read_bank(path).trials if trial.value > 0]
        found = [noise_of(np.log(values))] if len(values) >= _FEWEST else []
    if not found:
        raise typer.BadParameter(f"{path} holds too few visits to know the noise of one")
    return max(found)


_FEWEST = 8


def _of_findings(run: RunFindings) -> list[float]:
    """Of the comparisons of primary responses."""
    verdicts = [
        (verdict, {each.name for each in own.responses if each.primary})
        for own in run.workloads
        for verdict in own.verdicts
    ]
    return [
        verdict.noise_log
        for verdict, primary in verdicts
        if verdict.response in primary and verdict.noise_log
    ]
