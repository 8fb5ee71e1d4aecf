"""Arguments and options that several commands take; needs nothing that is slow to load."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from enum import StrEnum
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from steelyard.units import MOST_COUNT

RESULTS = Path("results")
FORMAT_NAMES = (
    "html", "md", "tex", "pdf", "csv", "junit", "tmt", "bugs", "openmetrics", "bmf", "benchfmt",
    "action", "json",
)  # fmt: skip
"""Those of ``report/formats/registry.py``, which is slow to load."""


class FailIf(StrEnum):
    """Words of a verdict or of a claim that a caller may take for a failure."""

    FASTER = "faster"
    SLOWER = "slower"
    EQUIVALENT = "equivalent"
    UNDECIDED = "undecided"
    TRADE_OFF = "trade_off"
    NOT_JUDGED = "not_judged"
    CONTRADICTED = "contradicted"


FailIfOption = Annotated[
    list[FailIf] | None,
    typer.Option(
        "--fail-if",
        help="Exit 5 if a primary verdict, or what is said of a claim, is this word; may be "
        "repeated.",
    ),
]
StudyArgument = Annotated[
    Path, typer.Argument(help="Study file, or a folder that holds study.yaml.", show_default=False)
]
VariantOption = Annotated[
    str | None, typer.Option("--variant", "-v", help="Use the overrides of this variant.")
]
SeedOption = Annotated[
    int | None,
    typer.Option(
        "--seed",
        min=0,
        max=MOST_COUNT,
        help="Repeat an order; without it the study's, or a fresh one.",
    ),
]
BudgetOption = Annotated[
    str | None,
    typer.Option("--budget", help="The longest time, as `15min`, in place of the study's budget."),
]
ResultsOption = Annotated[
    Path,
    typer.Option(
        "--results",
        envvar="STEELYARD_RESULTS",
        help="Folder that keeps the runs; also says which disk is used.",
    ),
]
RunArgument = Annotated[
    Path,
    typer.Argument(help="Folder of a run, or of a study's runs: the newest.", show_default=False),
]
EventsOption = Annotated[
    bool,
    typer.Option(
        "--json",
        help="Print every event as a line of JSON when it happens; the last has the findings.",
    ),
]
ClusterOption = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="ADDRESS",
        help="Read and judge on a Dask cluster: local:N processes here, or a scheduler's address.",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON, nothing else.")]
"""Of commands that print data once; ``EventsOption`` is for those that go on for a while."""
FormatOption = Annotated[
    str,
    typer.Option(
        "--format", "-f", help=f"Forms of the report, comma-separated: {', '.join(FORMAT_NAMES)}."
    ),
]


def with_fields_of(shared: type[Any]) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """The command with an option for each field of a dataclass in place of its last parameter.

    The fields are annotated as options are; the command gets them as one object. So commands that
    share options have one list of them.
    """
    hints = get_type_hints(shared, include_extras=True)
    fields = [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=field.default,
            annotation=hints[field.name],
        )
        for field in dataclasses.fields(shared)
    ]

    def replaced(command: Callable[..., int]) -> Callable[..., int]:
        *own, last = inspect.signature(command, eval_str=True).parameters.values()

        @wraps(command)
        def taking(**given: Any) -> int:
            together = shared(**{field.name: given.pop(field.name) for field in fields})
            return command(**given, **{last.name: together})

        parameters = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in own] + fields
        taking.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        taking.__annotations__ = {each.name: each.annotation for each in parameters}
        return taking

    return replaced
