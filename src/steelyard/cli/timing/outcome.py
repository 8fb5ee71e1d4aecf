"""What every short form takes and gives: margin, budget, order, exports, exit code."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import typer
from rich.live import Live
from rich.text import Text

from steelyard.cli.console import Telling, say, stderr, tell
from steelyard.cli.options import FailIf
from steelyard.cli.timing.options import Shared
from steelyard.errors import ExitCode, HostError
from steelyard.inference.sequential import VerdictWord
from steelyard.judge.own_trials.rows import LEAST_VISITS
from steelyard.judge.own_trials.verdicts import TrialsVerdict
from steelyard.plan.order import draw_seed
from steelyard.records.results.timing import Timing
from steelyard.report.figures import counted, listed
from steelyard.report.formats.timing import EXPORTS, json_export
from steelyard.report.sentences.terminal.timing import timing_lines
from steelyard.report.sentences.terminal.trials import trials_lines
from steelyard.report.tables.timing import lines_of, timing_table
from steelyard.timing.execution import CleanupFailedError
from steelyard.timing.session import Declaration, Progress, Subjects, judged, timed, why_not_judged
from steelyard.units import UnitError, parse

DEFAULT_BUDGET_S = 30


@dataclass(frozen=True)
class Wanted:
    """What is written and said at the end, and what of it is a failure."""

    exports: dict[str, Path]
    json: bool
    verbose: bool
    fail_if: tuple[FailIf, ...]

    @classmethod
    def of(cls, shared: Shared) -> Wanted:
        """Refuses an export that cannot be written, before anything is measured."""
        chosen = {kind: path for kind, path in zip(EXPORTS, shared.exports, strict=True) if path}
        for path in chosen.values():
            if not path.absolute().parent.is_dir():
                raise typer.BadParameter(f"there is no folder {path.absolute().parent}")
        printed = ["--json"] * shared.as_json
        printed += [f"--export-{kind}" for kind, path in chosen.items() if str(path) == "-"]
        if len(printed) > 1:
            raise typer.BadParameter(f"{listed(printed)} cannot share the standard output")
        return cls(chosen, shared.as_json, shared.verbose, tuple(shared.fail_if or ()))


def declared(primary: str, shared: Shared, warmups: int) -> Declaration:
    """What is fixed before the first visit.

    Raises:
        typer.BadParameter: margin or budget is no quantity of its kind.
    """
    budget = shared.budget
    given = declaration_of(
        primary, shared.margin, budget or f"{DEFAULT_BUDGET_S} s", shared.seed, warmups
    )
    return replace(given, is_given=budget is not None)


def declaration_of(
    primary: str, margin: str, budget: str, seed: int | None, warmups: int
) -> Declaration:
    """The same of the words themselves; the same errors."""
    return Declaration(
        primary=primary,
        margin_ratio=_quantity(margin, "share", "--margin"),
        budget_s=_quantity(budget, "duration", "--budget"),
        seed=draw_seed() if seed is None else seed,
        warmups=warmups,
    )


def compare(
    subjects: Subjects, declaration: Declaration, shell_s: float | None, wanted: Wanted
) -> int:
    """Measures, prints, writes; the exit code.

    Raises:
        HostError: a subject cannot be measured, or a cleanup failed; what was measured before is
            printed and written first.
    """
    seen: list[Progress] = []
    code = ExitCode.DONE
    failed: HostError | None = None
    try:
        with _Watch(seen, shows=Telling.is_live() and not wanted.json) as watch:
            timing, found = timed(subjects, declaration, shell_s, watch)
    except KeyboardInterrupt:
        if not seen:
            raise
        timing, code = seen[-1].timing, ExitCode.INTERRUPTED
        found = judged(timing)
    except HostError as error:
        if not seen:
            raise
        timing, failed = seen[-1].timing, error
        found = None if _ends_visits(error) else judged(timing)
    if found is None:
        timing = replace(timing, not_judged=_why_not(timing, code, failed))
    _print(timing, found, wanted)
    _export(timing, found, wanted)
    if failed is not None:
        raise failed
    words = {each.word for each in found.verdicts} if found else {VerdictWord.NOT_JUDGED}
    if code is ExitCode.DONE and words & set(wanted.fail_if):
        return ExitCode.VERDICT_NOT_MET
    return code


def _ends_visits(error: HostError) -> bool:
    """Whether it ended the measurement, and did not only follow it."""
    return not isinstance(error, CleanupFailedError) or error.before is not None


def _why_not(timing: Timing, code: ExitCode, failed: HostError | None) -> str:
    visits = counted(len(timing.visits), "visit")
    if failed is not None and _ends_visits(failed):
        return f"the figures are those of {visits} before one failed"
    has_ratios = all(visit.values[timing.primary] > 0 for visit in timing.visits)
    if len(timing.visits) < LEAST_VISITS and code is ExitCode.DONE and has_ratios:
        return f"the budget ended after {visits}, too few for a verdict; a larger --budget has more"
    return why_not_judged(timing) or f"{visits} are too few"


class _Watch:
    """One line that follows the visits, on a terminal only."""

    def __init__(self, seen: list[Progress], *, shows: bool) -> None:
        self._seen = seen
        self._live = Live(console=stderr(), transient=True, refresh_per_second=4) if shows else None

    def __enter__(self) -> Callable[[Progress], None]:
        if self._live:
            self._live.start()
        return self._follow

    def __exit__(self, *_: object) -> None:
        if self._live:
            self._live.stop()

    def _follow(self, progress: Progress) -> None:
        self._seen[:] = [progress]
        if self._live:
            self._live.update(Text(_progress_line(progress)))


def _progress_line(progress: Progress) -> str:
    timing = progress.timing
    done = f"visit {len(timing.visits)} of at most {timing.budget_visits}, {progress.spent_s:.0f} s"
    return "\n".join([done, *lines_of(timing_table(timing, progress.found))])


def _print(timing: Timing, found: TrialsVerdict | None, wanted: Wanted) -> None:
    if wanted.json:
        say(json_export(timing, found).rstrip())
        return
    if any(str(path) == "-" for path in wanted.exports.values()):
        return
    for line in lines_of(timing_table(timing, found)):
        say(line)
    say()
    if found is None:
        say(f"Not judged: {timing.not_judged}.")
        return
    for line in [*timing_lines(timing, found), *(_basis(timing, found) if wanted.verbose else [])]:
        say(line)


def _basis(timing: Timing, found: TrialsVerdict) -> list[str]:
    return ["", *trials_lines(found, timing.response.label)]


def _export(timing: Timing, found: TrialsVerdict | None, wanted: Wanted) -> None:
    for kind, path in wanted.exports.items():
        text = EXPORTS[kind](timing, found)
        if str(path) == "-":
            sys.stdout.write(text)
            continue
        try:
            path.write_text(text, encoding="utf-8")
        except OSError as error:
            raise HostError(
                f"cannot write {path}: {error.strerror}",
                hint="name a file that you may write to",
                slug="cannot-write",
            ) from error
        tell(f"wrote {path}")


def _quantity(text: str, kind: str, option: str) -> float:
    try:
        value = float(parse(text, "share" if kind == "share" else "duration"))
    except UnitError as error:
        raise typer.BadParameter(f"{error.message}; {error.hint}", param_hint=option) from error
    if value <= 0:
        raise typer.BadParameter("more than 0 is needed", param_hint=option)
    if kind == "share" and value > 1:
        raise typer.BadParameter("100 % is the most", param_hint=option)
    return value
