"""What a file of ``catalogue/imports`` declares: how the results of one tool are read.

Where the catalogue drives the tool itself, ``workload`` names its file, and the metrics are those.
"""

from __future__ import annotations

from functools import cache
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from steelyard.study import catalogue
from steelyard.study.declared.responses import Response, responses
from steelyard.study.service.entry import Part
from steelyard.study.shipped import content_of
from steelyard.study.workload.entry import response_of
from steelyard.study.workload.metric import Factor, Look, Metric, Refusal, Table, as_list


class ImportedMetric(Metric):
    """A number of every trial."""

    unit_at: str | None = None
    """Where the unit that it is printed in lies, as a path within the row."""
    separator: str | None = None
    """What stands between numbers that are printed as one text."""


class FileVersion(Look):
    """What the file says of the tool, or of its own format; a version outside is refused."""

    least: str
    """The first version that is supported."""
    before: str | None = None
    """The first version that is no longer supported."""


class CsvForm(Part):
    """Where the rows of a CSV stand, and what its columns are called."""

    header: str = ""
    """The first cell of each header; without it, the first line is the only header."""
    until: str | None = None
    """What the first cell of the line behind the rows matches; without it, they end the file."""
    strips: str = r"\A\Z"
    """What is left out of the names of columns, such as the name of the machine."""


class Rows(Part):
    """How a file that holds several results is taken apart."""

    json_path: str | None = Field(default=None, alias="json")
    """The rows of a document, as `results.*`; without it, all that it holds."""
    pattern: str | None = None
    """Text that is a row each, with its name as the group `name`."""
    above: str | None = None
    """What stands before rows of a text and begins their name, as its first group."""
    name: Annotated[tuple[str, ...], BeforeValidator(as_list)] = ()
    """What the name of a row consists of: paths within it, those of a list that are there."""
    by_key: bool = False
    """Whether the rows are the values of an object, each named by its key."""
    values: str | None = None
    """The list within a row that holds a number for each combination of levels."""
    levels: str | None = None
    """The lists of levels within a row, the last of which changes first."""
    matches: str | None = None
    """What the name must match; other rows are left out."""
    within: str | None = None
    """Rows within a row, each as its `each`, as the entries of a result."""
    but: tuple[str, ...] = ()
    """Columns that are not part of the name; with them, all others are."""
    system: str | None = None
    """Where the file itself says which system a row is of."""
    condition: str = "benchmark"
    """What the rows are, as a condition."""
    systems: bool = False
    """Whether the rows of a file may be the systems that are compared."""
    together: bool = False
    """Whether all rows of one name are one result, as samples of one label."""
    unique: str | None = None
    """What to do where two rows have one name; without it, they are repetitions."""


class Share(Part):
    """A count that is a part of another; a file in which it is more contradicts itself."""

    part: Look
    """What is counted."""
    whole: Look
    """What it is a part of."""
    label: str
    """What the part is called, as `failed requests`."""
    hint: str
    """How a file comes to contradict itself, and what to do."""


class Kind(Part):
    """One kind of file."""

    summary: str
    """One sentence that says what its files are."""
    made: str
    """How such a file is made."""
    trial: str
    """What one trial is."""
    seen: tuple[str, ...]
    """Versions of the tool whose real output a test reads."""
    says_version: bool = False
    """Whether the file says which version made it."""
    workload: str | None = None
    """The workload of the catalogue whose metrics these are."""
    operation: str = "operations"
    """The plural noun of one operation."""
    primary: str = "throughput"
    """The response that is judged unless another is asked for."""
    format: Literal["text", "json", "ndjson", "csv", "xml"] = "text"
    """What the file is written in; JSON paths lead through all but a text."""
    csv: CsvForm = CsvForm()
    """Where the rows of a CSV stand."""
    holds: tuple[Look, ...] = ()
    """What every such file holds: where one is missing, it is of another tool."""
    ends: str | None = None
    """What a whole text ends with, as a pattern; without it, it was cut."""
    version: FileVersion | None = None
    """Where the version stands."""
    rows: Rows | None = None
    """How it is taken apart; without it, the file is one trial."""
    each: bool = False
    """Whether every number that is found in a row, or list of numbers, is a trial of its own."""
    settings: dict[str, Look] = Field(default={})
    """Settings of the workload that the file itself says, in small letters."""
    conditions: dict[str, Look] = Field(default={})
    """Conditions that the file itself says, such as connections."""
    optional: tuple[str, ...] = ()
    """Metrics that the tool only prints when it is asked to."""
    scales: dict[str, dict[str, Factor]] = Field(default={})
    """Units that the tool prints, in the unit of a response, by a name for `scale`."""
    tables: dict[str, Table] = Field(default={})
    """Tables in the file, by name."""
    refuses: tuple[Refusal, ...] = ()
    """Files of which nothing is to be used."""
    shares: tuple[Share, ...] = ()
    """Counts that are a part of others."""
    metrics: dict[str, ImportedMetric] = Field(default={})
    """Its numbers, by the name of the response."""

    def response(self, name: str) -> Response:
        """What a metric is: a standard response is what it always is."""
        found = response_of(self.metrics[name], responses().get(name))
        unit = found.unit.replace("{operation}", self.operation)
        return found.model_copy(update={"unit": unit})


@cache
def names() -> tuple[str, ...]:
    """All kinds, sorted."""
    return catalogue.names("imports")


@cache
def kind(name: str) -> Kind:
    """The kind of this name, which must be one of ``names``."""
    found = Kind.model_validate(content_of(catalogue.file("imports", name)))
    if found.workload is None:
        return found
    entry = catalogue.workload(found.workload)
    shared = {
        name: ImportedMetric.model_validate(metric.model_dump(by_alias=True))
        for name, metric in entry.metrics.items()
    }
    return found.model_copy(
        update={
            "operation": entry.operation,
            "primary": entry.primary,
            "scales": entry.scales | found.scales,
            "tables": entry.tables | found.tables,
            "refuses": (*entry.refuses, *found.refuses),
            "metrics": shared | found.metrics,
        }
    )
