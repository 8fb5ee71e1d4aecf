"""What a workload file says of a tool's output: where each number stands, and what it means."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from steelyard.study.declared.responses import Join
from steelyard.study.declared.setting import When
from steelyard.study.file.kinds import mistake, shown
from steelyard.study.model import Direction
from steelyard.study.service.entry import Part

Take = Literal[
    "only", "first", "last", "sum", "mean", "median", "largest", "least",
    "p90", "p95", "p99", "span", "count",
]  # fmt: skip


def _no_flag(written: object) -> object:
    """Pydantic takes `true` for 1."""
    if isinstance(written, bool):
        raise mistake(f"{shown(written)} is no number", "write it like `1000000`")
    return written


Factor = Annotated[float, BeforeValidator(_no_flag)]
Scale = Annotated[dict[str, Factor] | float | str, BeforeValidator(_no_flag)]
"""The unit of the response in each unit that the tool prints, in the one it prints, or by name."""


def as_list(written: object) -> object:
    """One path stands for a list of one."""
    return [written] if isinstance(written, str) else written


def _as_text(written: object) -> object:
    """A number stands for its text."""
    return str(written) if isinstance(written, int) else written


class Look(Part):
    """Where in the output a text stands: by ``json``, by ``pattern``, or in a ``table``."""

    source: str = Field(default="stdout", alias="from")
    """What is read: `stdout`, `stderr`, or a name of `writes`."""
    json_paths: Annotated[
        tuple[str, ...], BeforeValidator(as_list, json_schema_input_type=str | tuple[str, ...])
    ] = Field(default=(), alias="json")
    """Where it lies in output that is JSON, as `jobs.0.read.iops`; a list of paths for several."""
    pattern: str | None = None
    """A regular expression: its group `value` (or its only one) is read, in the unit `unit`."""
    table: str | None = None
    """The table it stands in, one of `tables`."""
    row: dict[str, str] | str | None = None
    """The row: the text of its first cell, or of several columns by name; without it, every row."""
    column: str | None = None
    """The column, one of those of the table."""
    take: Take = "only"
    """Which of several, or what is made of them: `only` refuses several, `count` is how many."""
    times: Annotated[
        str | None, BeforeValidator(_as_text, json_schema_input_type=str | int | None)
    ] = None
    """How many must be found, where that is known, as `"{users}"`; fewer are a part of it."""


class Needed(Look):
    """A number that must be large enough for a metric to mean anything."""

    at_least: float
    """The least that it must be."""
    of: str
    """What it counts, such as `samples`."""


class Metric(Look):
    """A number of every trial. A standard response says what it is itself."""

    label: str | None = None
    """What it is called in reports."""
    unit: str | None = None
    """Its unit, as it is stored: `ns`, `s`, `bytes/s`, `operations/s`, `ratio` and the like."""
    direction: Direction | None = None
    """Which way is good: `higher`, `lower`, or `none`."""
    meaning: str | None = None
    """What it is, in one sentence."""
    instances: Join | None = None
    """How the figures of several instances become one: `largest` unless said otherwise."""
    may_be_zero: bool | None = None
    """Whether 0 is a figure: it then cannot decide a study. Otherwise a 0 is not measured."""
    scale: Scale = 1.0
    """What the printed number is multiplied by; by printed unit, or the name of one of `scales`."""
    per: Look | None = None
    """A number in the same output that it is divided by."""
    complement: bool = False
    """Whether it is one minus that, as errors where a tool prints the share that succeeded."""
    absent: float | None = None
    """What it is where the tool does not print it, such as errors where there were none."""
    no_value: dict[str, str] = Field(default={})
    """Texts that the tool prints where it has no number, each with the reason."""
    needs: Needed | None = None
    """A count that must be reached, as the samples of a percentile."""
    when: When = Field(default={})
    """Only when these settings have one of these values; otherwise it is not measured."""


class Refusal(Look):
    """Output of which nothing is to be used."""

    equals: str | None = None
    """Refused when the text is this; without `equals` and `differs`, when there is one at all."""
    differs: str | None = None
    """Refused when the text is not this."""
    because: str
    """The reason, as it is recorded."""


class Table(Part):
    """Lines of one shape in the output."""

    source: str = Field(default="stdout", alias="from")
    """What is read: `stdout`, `stderr`, or a name of `writes`."""
    header: str | None = None
    """A regular expression that the line before its rows matches; without it, from the start."""
    columns: tuple[str, ...]
    """Names of its columns, in their order."""
    separator: str | None = None
    """What stands between two cells; blanks unless said otherwise."""
