"""From candidates to the best of them: preparation, elimination, what the best one gains.

The gain over the baseline is measured afterwards in visits of its own, so choosing the largest of
many estimates does not enlarge it, and its interval is that of any comparison of two.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from steelyard.errors import HostError
from steelyard.inference.selection import FEWEST_BLOCKS
from steelyard.records.results.bisection import Step
from steelyard.records.results.timing import Quantity
from steelyard.records.results.tuning import Candidate, Outcome, Standing, Tuning
from steelyard.timing.commands import Command, Commands, clean_up
from steelyard.timing.elimination import Block, CandidateFailed, Elimination, Rules
from steelyard.timing.execution import CommandFailedError
from steelyard.timing.kept_visits import KeptVisits
from steelyard.timing.levels import Levels, each_time
from steelyard.timing.session import VISIT_S, Declaration, ending

_FIRST_SHARE = 0.75
"""What of the budget the elimination may take; the rest is for the gain."""


@dataclass(frozen=True)
class Watches:
    """What is called while it goes on; ``found`` with the result, before the cleanups."""

    failed: Callable[[str, str], None]
    block: Callable[[Block], None]
    found: Callable[[Tuning], None]


class Prepared:
    """Candidates whose setup succeeded and whose command ran once; the others with the reason."""

    def __init__(self, commands: Sequence[Command], printed: Quantity | None, warmups: int) -> None:
        self.failed: dict[str, str] = {}
        self._begun = list[Command]()
        slowest_s, ready = 0.0, []
        for command in commands:
            try:
                slowest_s = max(slowest_s, self._first_s(command, warmups))
                ready.append(replace(command, beside=each_time(command.beside)))
            except CommandFailedError as error:
                self.failed[command.name] = error.message
        self._commands = Commands(ready, printed)
        repeats = max(1, round(VISIT_S / slowest_s)) if slowest_s else 1
        self._commands.executions_per_visit = repeats
        self.visit_s = slowest_s * repeats
        self.ready: Mapping[str, Command] = {command.name: command for command in ready}

    def _first_s(self, command: Command, warmups: int) -> float:
        self._begun.append(command)
        command.set_up()
        return [command.execute().wall_s for _ in range(warmups + 1)][-1]

    def log(self, name: str, quantity: Quantity) -> float:
        """One visit: the natural logarithm of what is judged, larger is better.

        Raises:
            CandidateFailed: it failed, or it gave no number above 0.
        """
        try:
            value = self._commands.visit(name).values[quantity.name]
        except CommandFailedError as error:
            raise CandidateFailed(error.message) from error
        if not value > 0:
            raise CandidateFailed(f"{quantity.label} is {value:g}: of that there is no ratio")
        return _sign(quantity) * math.log(value)

    def end(self) -> None:
        """The cleanup of each; raises as :func:`clean_up`."""
        clean_up(self._begun)


@dataclass(frozen=True)
class Asked:
    """What is searched; ``printed`` is looked for in the output, ``judged`` decides."""

    commands: Sequence[Command]
    baseline: str
    judged: Quantity
    printed: Quantity | None
    declared: Declaration

    @property
    def margin_log(self) -> float:
        return math.log1p(self.declared.margin_ratio)


def tuned(asked: Asked, kept: KeptVisits, watches: Watches) -> tuple[Tuning, bool]:
    """The best of all commands, and whether the search was interrupted.

    Raises:
        HostError: the baseline cannot be measured, or the budget holds too few visits.
        CleanupFailedError: a cleanup failed; all others were run, and the result was given.
    """
    began = time.monotonic()
    prepared = Prepared(asked.commands, asked.printed, asked.declared.warmups)
    with ending(prepared.end):
        for name, why in prepared.failed.items():
            watches.failed(name, why)
        _check(prepared, asked)
        elimination = _elimination(prepared, asked, kept, watches)
        step, is_cut = None, False
        try:
            elimination.run(watches.block)
            if not elimination.is_constant:
                step = _gain(prepared, elimination.best, asked, time.monotonic() - began)
        except KeyboardInterrupt:
            is_cut = True
        result = _result(elimination, prepared, asked, step)
        watches.found(result)
    return result, is_cut


def _check(prepared: Prepared, asked: Asked) -> None:
    if asked.baseline in prepared.failed:
        raise _no_baseline(asked.baseline, prepared.failed[asked.baseline])
    declared = asked.declared
    least_s = FEWEST_BLOCKS * len(prepared.ready) * prepared.visit_s
    if declared.is_given and declared.budget_s * _FIRST_SHARE < least_s:
        raise HostError(
            f"a budget of {declared.budget_s:g} s is too short for {FEWEST_BLOCKS} visits of each "
            f"of {len(prepared.ready)} candidates, {prepared.visit_s:.3g} s each",
            hint=f"allow {math.ceil(2 * least_s / _FIRST_SHARE)} s, or fewer candidates",
            slug="budget-too-small",
        )


def _no_baseline(name: str, why: str) -> HostError:
    return HostError(
        f"{name}, the baseline, cannot be measured: {why}",
        hint="run it by hand, or name another candidate as --baseline",
        slug="command-failed",
    )


def _elimination(
    prepared: Prepared, asked: Asked, kept: KeptVisits, watches: Watches
) -> Elimination:
    def visit(name: str) -> float:
        try:
            return kept.visit(name, lambda each: prepared.log(each, asked.judged))
        except CandidateFailed as failed:
            if name == asked.baseline:
                raise _no_baseline(name, str(failed)) from failed
            watches.failed(name, str(failed))
            raise

    declared = asked.declared
    rules = Rules(asked.margin_log, declared.budget_s * _FIRST_SHARE, declared.seed, declared.alpha)
    return Elimination([*prepared.ready], visit, rules)


def _gain(prepared: Prepared, best: str, asked: Asked, spent_s: float) -> Step | None:
    """The best against the baseline, in what is left of the budget; none against itself."""
    if best == asked.baseline:
        return None
    rest_s = max(0.0, asked.declared.budget_s - spent_s)
    rest = replace(asked.declared, budget_s=rest_s, warmups=0)
    levels = Levels(lambda name: prepared.ready[name], rest, asked.printed, lambda _: None)
    return levels.measure([(asked.baseline, best)], rest.alpha, 1, None)


def _result(
    elimination: Elimination, prepared: Prepared, asked: Asked, step: Step | None
) -> Tuning:
    unprepared = (
        Candidate(name, Standing.FAILED, 0, failure=why) for name, why in prepared.failed.items()
    )
    measured = (_raw(each, asked.judged) for each in elimination.candidates(asked.baseline))
    outcome = Outcome.FOUND if elimination.is_over else Outcome.UNDECIDED
    if elimination.is_constant:
        outcome = Outcome.NOT_JUDGED
    return Tuning(
        outcome=outcome,
        best=asked.baseline if elimination.is_constant else elimination.best,
        baseline=asked.baseline,
        candidates=(*measured, *unprepared),
        gain=None if step is None else step.changes[0],
        gain_visits=0 if step is None else step.visits,
        blocks=elimination.blocks,
        noise_sd_log=elimination.noise_sd_log,
        margin_log=asked.margin_log,
        alpha=asked.declared.alpha,
        seed=asked.declared.seed,
    )


def _raw(candidate: Candidate, judged: Quantity) -> Candidate:
    """With the ratio of the response itself."""
    if candidate.estimate_log is None:
        return candidate
    return replace(candidate, estimate_log=_sign(judged) * candidate.estimate_log + 0.0)


def _sign(judged: Quantity) -> float:
    return -1.0 if judged.direction == "lower" else 1.0
