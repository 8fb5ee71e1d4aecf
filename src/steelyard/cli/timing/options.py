"""The options that every short form takes: margin, budget, order, exports, exit code."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from steelyard.cli.options import FailIfOption
from steelyard.units import MOST_COUNT

PrepareOption = Annotated[
    str, typer.Option("--prepare", "-p", help="Run before each execution, not measured.")
]
ConcludeOption = Annotated[
    str, typer.Option("--conclude", "-C", help="Run after each execution, not measured.")
]
MarginOption = Annotated[
    str, typer.Option("--margin", help="The smallest difference that matters.")
]
BudgetOption = Annotated[
    str | None,
    typer.Option("--budget", help="The longest time to measure.  [default: 30 s]"),
]
SeedOption = Annotated[
    int | None,
    typer.Option("--seed", min=0, max=MOST_COUNT, help="Repeat an order; without it a fresh one."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print the JSON export, nothing else.")]
VerboseOption = Annotated[bool, typer.Option("--verbose", help="Say what the verdict rests on.")]
_EXPORT = "Write {} to this file; `-` is standard output."
ExportJsonOption = Annotated[
    Path | None, typer.Option("--export-json", help=_EXPORT.format("all times and the verdict"))
]
ExportCsvOption = Annotated[
    Path | None, typer.Option("--export-csv", help=_EXPORT.format("a row for each subject"))
]
ExportMarkdownOption = Annotated[
    Path | None,
    typer.Option("--export-md", "--export-markdown", help=_EXPORT.format("the table")),
]
ExportTrialsOption = Annotated[
    Path | None,
    typer.Option("--export-trials", help=_EXPORT.format("the visits, for `steelyard judge`,")),
]


@dataclass(frozen=True)
class Shared:
    """As given; nothing is checked yet."""

    margin: MarginOption = "2%"
    budget: BudgetOption = None
    seed: SeedOption = None
    export_json: ExportJsonOption = None
    export_csv: ExportCsvOption = None
    export_md: ExportMarkdownOption = None
    export_trials: ExportTrialsOption = None
    as_json: JsonOption = False
    verbose: VerboseOption = False
    fail_if: FailIfOption = None

    @property
    def exports(self) -> tuple[Path | None, ...]:
        """Files for JSON, CSV, Markdown and visits, in the order of ``EXPORTS``."""
        return self.export_json, self.export_csv, self.export_md, self.export_trials


@dataclass(frozen=True)
class Searched:
    """Options of a bisection, as given."""

    margin: MarginOption = "2%"
    budget: Annotated[
        str | None,
        typer.Option("--budget", help="The longest time to measure.  [default: 5 min]"),
    ] = None
    warmup: Annotated[
        int, typer.Option("--warmup", "-w", min=0, help="Executions of each before a step.")
    ] = 0
    shell: Annotated[
        str, typer.Option("--shell", "-S", help="Program that interprets commands, or `none`.")
    ] = "default"
    response: Annotated[
        str | None,
        typer.Option(
            "--response",
            help="What is judged: wall, user, system, memory, or printed.  "
            "[default: printed with --number, else wall]",
        ),
    ] = None
    number: Annotated[
        str | None,
        typer.Option("--number", help="Expression with one group: the number that is `printed`."),
    ] = None
    number_unit: Annotated[str, typer.Option("--number-unit", help="Its unit, as `ms`.")] = ""
    number_higher: Annotated[
        bool, typer.Option("--number-higher/--number-lower", help="Which numbers are better.")
    ] = False
    seed: SeedOption = None
    as_json: JsonOption = False
