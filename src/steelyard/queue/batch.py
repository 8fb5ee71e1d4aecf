"""The job of a run: the words of ``sbatch``, its script, and how long it may take. Pure."""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from steelyard.records.submission import Placement

GRACE_S = 120
"""So long before its end a job has SIGTERM: a trial is cut off and all that was changed undone."""
_RESERVE = 1.5
_START_S = 300
"""Agents, images and the report, of which the forecast knows nothing."""
_MINUTE_S = 60
_SCRIPT = """\
#!/bin/sh
# Starts the session of one submission, once: where the queue starts it again, it is refused.
session= stop=
trap 'stop=yes; [ -z "$session" ] || kill -TERM "$session"' TERM
{command} resume {run} --queued {number} &
session=$!
[ -z "$stop" ] || kill -TERM "$session"
wait "$session"; code=$?
# A signal ends the first wait, not the session, which then undoes what it changed.
while [ "$code" -gt 128 ] && kill -0 "$session" 2>/dev/null; do wait "$session"; code=$?; done
case $code in
  0|1|2|5|130) ;;
  *) {command} restore {run} ;; # it was killed, now or before the queue started this job again
esac
exit "$code"
"""


@dataclass(frozen=True)
class BatchJob:
    """What is queued. ``folder`` is kept by the run and gets script and log."""

    name: str
    comment: str
    placement: Placement
    nodes_count: int
    time_limit_s: int
    folder: Path

    @property
    def log(self) -> str:
        """Where the job writes; Slurm puts its number in."""
        return f"{self.folder}/%j.log"

    def options(self) -> list[str]:
        """Words of ``sbatch``, in front of which no variable and no line of a script comes."""
        place = self.placement
        asked = {
            "--partition": place.partition,
            "--nodelist": ",".join(place.nodes) or None,
            "--constraint": place.constraint,
            "--gres": place.gres,
            "--account": place.account,
            "--reservation": place.reservation,
        }
        return [
            "--parsable",
            "--no-requeue",
            "--exclusive",
            f"--nodes={self.nodes_count}",
            f"--time={math.ceil(self.time_limit_s / _MINUTE_S)}",
            f"--signal=B:TERM@{GRACE_S}",
            f"--job-name={self.name}",
            f"--comment={self.comment}",
            f"--output={self.log}",
            "--open-mode=append",
            "--export=ALL",
            *(f"{option}={value}" for option, value in asked.items() if value is not None),
        ]


def script_of(command: Sequence[str], run: Path, number: int) -> str:
    """What a node runs; ``command`` is steelyard as it is called there."""
    return _SCRIPT.format(command=shlex.join(command), run=shlex.quote(str(run)), number=number)


def time_limit_s(forecast_s: float, budget_s: float | None, asked_s: float | None) -> int:
    """Of a job, in whole minutes: what was asked for, else forecast and budget with a reserve."""
    longest_s = max(forecast_s, budget_s or 0.0)
    wanted_s = longest_s * _RESERVE + _START_S + GRACE_S if asked_s is None else asked_s
    return math.ceil(wanted_s / _MINUTE_S) * _MINUTE_S
