"""What only runs beside the measured one in a scenario: repeated, or long, until that has ended."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace

from steelyard.hosts.host import read_load
from steelyard.records.schema import Outcome
from steelyard.study.bind import BoundCell
from steelyard.study.model import LoadSpec, Study, WorkloadSpec
from steelyard.trial.attempt.outcomes import TrialFailed
from steelyard.trial.drive.drivers import LoadDrive
from steelyard.workloads.tools.ready import ReadyTool

_LONGEST_END_S = 60.0
ENGINE = "@engine"
_AGAIN = """while :; do
  {work} >/dev/null
  case $? in {good}) ;; *) exit {bad};; esac{then}
done
"""
_THEN = "\n  {then} >/dev/null || exit {bad}"


def repeated(tool: ReadyTool) -> ReadyTool:
    """The tool, whose whole work is done again and again until it is ended.

    It ends by itself only when a command fails, whose complaint is kept, and then not well.
    """
    good = tool.entry.good_exits
    bad = next(code for code in range(1, 256) if code not in good)
    work, *others = (shlex.join(_at_home(tool, words)) for words in tool.commands)
    then = "".join(_THEN.format(then=words, bad=bad) for words in others)
    script = _AGAIN.format(work=work, good="|".join(map(str, good)), bad=bad, then=then)
    return replace(tool, commands=(("sh", "-c", script),))


def _at_home(tool: ReadyTool, words: Sequence[str]) -> list[str]:
    """In a shell no agent knows ``@engine``."""
    return [tool.host.engine if word == ENGINE else word for word in words]


def background_cell(study: Study, cell: BoundCell, workload: WorkloadSpec) -> BoundCell:
    """The cell of a load that runs beside: users at the first of their levels, or one."""
    users = study.factors.get("load.users", (1,))[0]
    think_s = 0.0 if study.load is None else study.load.think_time_s
    load = LoadSpec(think_time_s=think_s)
    return replace(cell, workload=workload, load=load, users=int(users), rate_per_s=None)


def without_end(study: Study) -> Study:
    """With a window that outlasts whatever is measured, and no warm-up of its own."""
    longest = {"warmup_s": 0.0, "window_s": study.trials.command_s}
    return study.model_copy(update={"trials": study.trials.model_copy(update=longest)})


class EndlessLoad(LoadDrive):
    """A load that runs until what is measured has ended."""

    def end_background(self) -> float | None:
        """Ends it. One that had ended by then, or got nothing done, was no background load.

        Raises:
            TrialFailed: so it was.
        """
        if self._answer.done():
            self._answer.result(0)  # says itself why it could not be done
            raise _idle(self.instance.number)
        self.generator.cancel_load()
        self.instance.background_load = read_load(self._answer.result(_LONGEST_END_S))
        result = self.instance.background_load.result
        if not result.counts.ok and result.stream is None:
            raise _idle(self.instance.number)
        return None


def _idle(number: int) -> TrialFailed:
    return TrialFailed(
        Outcome.INVALID,
        f"the load beside the measured one on instance {number} did nothing",
        "look at its service, or measure that workload by itself",
    )
