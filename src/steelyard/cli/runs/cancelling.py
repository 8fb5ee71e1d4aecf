"""Cancelling runs that are queued or run as a job of a queue."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from steelyard.cli.console import print_error, say, shown, tell
from steelyard.cli.runs.deleting import named
from steelyard.cli.runs.queue_states import document_of, words_of
from steelyard.errors import ExitCode, SteelyardError
from steelyard.queue.slurm import Slurm
from steelyard.queue.submitting import cancel


def cancel_runs(names: Sequence[str], results: Path, *, as_json: bool) -> int:
    """Cancels each that was named; what cannot be is said, and the others are.

    Raises:
        RecordError: a name is no run; none is cancelled then.
    """
    runs = [named(name, results) for name in dict.fromkeys(names)]
    slurm, done = Slurm(), {}
    for run in runs:
        try:
            done[run] = cancel(run, slurm, partial(tell, f"{shown(run.path)}: ends its trial"))
        except SteelyardError as error:
            print_error(error)
    if as_json:
        rows = [{"run": run.key, **document_of(run, found)} for run, found in done.items()]
        say(json.dumps(rows, indent=1))
    else:
        for run, found in done.items():
            say(f"{shown(run.path)}: job {words_of(found)}")
    return ExitCode.DONE if len(done) == len(runs) else ExitCode.OPERATOR
