"""Commands of several levels, measured as a bisection asks: prepared once, then in random order."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from steelyard.judge.findings import VerdictFinding
from steelyard.judge.own_trials.verdicts import TrialsVerdict
from steelyard.records.results.bisection import Change, Step
from steelyard.records.results.timing import Quantity
from steelyard.timing.bisection import LevelSkipped
from steelyard.timing.commands import Beside, Command, Commands
from steelyard.timing.execution import CommandFailedError
from steelyard.timing.session import Declaration, Progress, is_decided, timed

_OPPOSITE = {"faster": "slower", "slower": "faster"}


@dataclass
class Levels:
    """A command for each level; ``declared.budget_s`` is for all steps together.

    ``command`` makes the command of a level, and may raise where there cannot be one.
    """

    command: Callable[[str], Command]
    declared: Declaration
    printed: Quantity | None
    watch: Callable[[Progress], None]

    def __post_init__(self) -> None:
        self._ready: dict[str, Command] = {}
        self._spent_s = 0.0
        self._steps = 0

    def measure(
        self, pairs: Sequence[tuple[str, str]], alpha: float, steps_left: int, wanted: str | None
    ) -> Step:
        """One step (``timing/bisection.py: Measure``).

        Two comparisons have one baseline and share their rate in equal parts, so they are given
        twice of it: at most one of them can be shown by error.
        """
        baseline = pairs[0][0] if len(pairs) == 1 else pairs[0][1]
        others = [after if before == baseline else before for before, after in pairs]
        commands = Commands([self._prepared(name) for name in (baseline, *others)], self.printed)
        declared = replace(
            self.declared,
            budget_s=max(0.0, self.declared.budget_s - self._spent_s) / steps_left,
            seed=self.declared.seed + self._steps,
            alpha=alpha * len(pairs),
            is_given=False,
        )
        self._steps += 1

        def is_over(found: TrialsVerdict) -> bool:
            changes = (change_of(pair, baseline, found) for pair in pairs)
            return is_decided(found) or any(change.word == wanted for change in changes)

        began = time.monotonic()
        timing, found = timed(commands, declared, None, self.watch, is_over)
        self._spent_s += time.monotonic() - began
        changes = tuple(change_of(pair, baseline, found) for pair in pairs)
        return Step(changes, alpha, len(timing.visits))

    def _prepared(self, name: str) -> Command:
        """Its setup is run when it is measured for the first time.

        Raises:
            LevelSkipped: it failed.
        """
        if name not in self._ready:
            try:
                command = self.command(name)
                command.set_up()
            except CommandFailedError as error:
                raise LevelSkipped(name) from error
            self._ready[name] = replace(command, beside=each_time(command.beside))
        return self._ready[name]


def each_time(beside: Beside) -> Beside:
    return replace(beside, setup="", cleanup="")


def change_of(pair: tuple[str, str], baseline: str, found: TrialsVerdict | None) -> Change:
    """A pair of which one is the baseline, as a change from the first to the second."""
    before, after = pair
    if found is None:
        return Change(before, after, "undecided", None, None, None)
    verdict = found.of(after if before == baseline else before)
    word, ends = _word(verdict), (verdict.estimate_log, verdict.low_log, verdict.high_log)
    why = (verdict.withheld,) if verdict.withheld else tuple(verdict.not_judged)
    rest = verdict.interval_level, why
    if before == baseline:
        return Change(before, after, word, *ends, *rest)
    estimate, low, high = (None if end is None else -end for end in ends)
    return Change(before, after, _OPPOSITE.get(word, word), estimate, high, low, *rest)


def _word(verdict: VerdictFinding) -> str:
    """A difference before an equivalence: both may hold."""
    words = [word.value for word in verdict.words] if verdict.withheld is None else []
    return next((word for word in words if word in _OPPOSITE), (words or ["undecided"])[0])
