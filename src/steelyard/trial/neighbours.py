"""What only runs beside the measured one in a scenario: repeated, or long, until that has ended."""

from __future__ import annotations

from dataclasses import replace

from steelyard.hosts.host import read_load
from steelyard.records.schema import Outcome
from steelyard.study.bind import BoundCell
from steelyard.study.model import LoadSpec, Study, WorkloadSpec
from steelyard.trial.driving import LoadDrive
from steelyard.trial.outcomes import TrialFailed
from steelyard.workloads.tools.ready import ReadyTool

_LONGEST_END_S = 60.0
ENGINE = "@engine"
_AGAIN = 'while "$@" >/dev/null; do :; done; exit 1'
"""Ends when the command fails, whose complaint is kept."""


def repeated(tool: ReadyTool) -> ReadyTool:
    """The tool, whose first command is done again and again until it is ended."""
    words = [tool.host.engine if word == ENGINE else word for word in tool.commands[0]]
    return replace(tool, commands=(("sh", "-c", _AGAIN, "steelyard", *words),))


def driven_beside(study: Study, cell: BoundCell, workload: WorkloadSpec) -> BoundCell:
    """The cell of a load that runs beside: users at the first of their levels, or one."""
    users = study.factors.get("load.users", (1,))[0]
    think_s = 0.0 if study.load is None else study.load.think_time_s
    load = LoadSpec(think_time_s=think_s)
    return replace(cell, workload=workload, load=load, users=int(users), rate_per_s=None)


def without_end(study: Study) -> Study:
    """With a window that outlasts whatever is measured, and no warm-up of its own."""
    longest = {"warm_up_s": 0.0, "window_s": study.trials.command_s}
    return study.model_copy(update={"trials": study.trials.model_copy(update=longest)})


class EndlessLoad(LoadDrive):
    """A load that runs until what is measured has ended."""

    def end_beside(self) -> float | None:
        """Ends it. One that had ended by then, or got nothing done, was no neighbour.

        Raises:
            TrialFailed: so it was.
        """
        if self._answer.done():
            self._answer.result(0)  # says itself why it could not be done
            raise _idle(self.instance.number)
        self.generator.cancel_load()
        self.instance.neighbour = read_load(self._answer.result(_LONGEST_END_S))
        result = self.instance.neighbour.result
        if not result.counts.ok and result.stream is None:
            raise _idle(self.instance.number)
        return None


def _idle(number: int) -> TrialFailed:
    return TrialFailed(
        Outcome.INVALID,
        f"the load beside the measured one on instance {number} did nothing",
        "look at its service, or measure that workload by itself",
    )
