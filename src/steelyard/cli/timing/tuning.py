"""A search for the best candidate from words to an answer: commands, progress, what is printed."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from steelyard.cli.console import say, tell
from steelyard.cli.timing.bisecting import noted
from steelyard.cli.timing.candidates import Values
from steelyard.cli.timing.command_lines import Found, primary_of
from steelyard.cli.timing.options import Searched
from steelyard.cli.timing.outcome import declaration_of
from steelyard.errors import ExitCode
from steelyard.plan.order import draw_seed
from steelyard.records.results.timing import Quantity
from steelyard.records.results.tuning import Outcome, Tuning
from steelyard.report.sentences.terminal.tuning import block_line, tuning_lines
from steelyard.report.tables.timing import lines_of
from steelyard.report.tables.tuning import tuning_table
from steelyard.timing.commands import MEMORY, SYSTEM, USER, WALL, Beside, Command
from steelyard.timing.elimination import Block
from steelyard.timing.execution import Shell, Streams
from steelyard.timing.kept_visits import KeptVisits
from steelyard.timing.tuning import Asked, Watches, tuned

_DEFAULT_BUDGET = "5 min"


@dataclass(frozen=True)
class Lines:
    """What is run for each candidate, with places for its values."""

    command: str
    beside: Beside

    def of(self, values: Values, shell: str, found: Found) -> Command:
        """The command of one candidate."""
        filled, beside = values.fill(self.command), self.beside
        lines = (beside.setup, beside.prepare, beside.conclude, beside.cleanup)
        return Command(
            values.name, filled, Shell.chosen(shell, filled), Beside(*map(values.fill, lines)),
            Streams(number=found.expression),
        )  # fmt: skip


def searched(
    lines: Lines, candidates: list[Values], baseline: str, visits: Path | None, shared: Searched
) -> int:
    """Measures, prints; exit code 7 where the budget ended before a candidate could be named."""
    found = Found.of(shared.number, shared.number_unit, higher=shared.number_higher)
    judged = _judged(primary_of(shared.response, found.quantity), found.quantity)
    commands = [lines.of(each, shared.shell, found) for each in candidates]
    identity = {
        **asdict(lines), "candidates": [each.name for each in commands], "baseline": baseline,
        "response": judged.name, "number": shared.number, "margin": shared.margin,
    }  # fmt: skip
    with KeptVisits(visits, identity, shared.seed, draw_seed) as kept:
        budget = shared.budget or _DEFAULT_BUDGET
        declared = declaration_of(judged.name, shared.margin, budget, kept.seed, shared.warmup)
        commands = [replace(each, most_s=declared.budget_s) for each in commands]
        asked = Asked(commands, baseline, judged, found.quantity, declared)
        result, is_cut = tuned(asked, kept, _watches(judged, as_json=shared.as_json))
    if is_cut:
        return ExitCode.INTERRUPTED
    return ExitCode.DONE if result.outcome is Outcome.FOUND else ExitCode.NOT_FOUND


def _print(result: Tuning, judged: Quantity, *, as_json: bool) -> None:
    if as_json:
        say(json.dumps(asdict(result), indent=1, default=noted))
        return
    for each in [*lines_of(tuning_table(result, judged)), "", *tuning_lines(result)]:
        say(each)


def _watches(judged: Quantity, *, as_json: bool) -> Watches:
    def found(result: Tuning) -> None:
        _print(result, judged, as_json=as_json)

    if as_json:
        return Watches(lambda _, __: None, lambda _: None, found)
    return Watches(lambda name, why: tell(f"left out {name}: {why}"), _tell_block, found)


def _tell_block(block: Block) -> None:
    further = block.further_visits
    tell(block_line(block.number, block.visits, len(block.remaining), block.leader, further))


def _judged(name: str, printed: Quantity | None) -> Quantity:
    known = (WALL, USER, SYSTEM, MEMORY, *([printed] if printed else []))
    return next(each for each in known if each.name == name)
