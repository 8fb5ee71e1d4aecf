"""What a workload file declares: what is driven, and for a tool how it is run and parsed.

``docs/reference/workload-file.md`` says every key. A text may hold placeholders such as
``{folder}``; ``placeholders.py`` names them, ``checks.py`` finds what nothing fills.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Literal

from pydantic import Field

from steelyard.study.declared.conditions import holds
from steelyard.study.declared.responses import Response
from steelyard.study.declared.setting import Entry, Setting, When, Words
from steelyard.study.service.entry import FileText, Part, Step, Texts
from steelyard.study.workload.metric import Factor, Metric, Refusal, Scale, Table

ANY = "any"


class Calibration(Entry):
    """The engine's own server that shows what the generator can do with a workload at most.

    ``settings`` replace those of the workload, where this server has not what others have.
    ``alike`` are settings of the server that are taken over when the study's service has them.
    """

    service: str
    settings: dict[str, object] = Field(default={})
    alike: tuple[str, ...] = ()


class ToolVersion(Part):
    """How the version of the tool is asked for, and which versions this file understands."""

    run: Words
    """The words of the command; stdout and stderr are read."""
    pattern: str
    """A regular expression; its one group is the version: numbers with dots between."""
    least: str
    """The first version whose output is supported."""
    before: str | None = None
    """The first version whose output is no longer supported."""


class Expected(Part):
    """How a service of the catalogue must be set, or it cannot answer the tool."""

    service: str
    """Its name."""
    settings: dict[str, object]
    """Its settings; it is started with them where a study leaves the service to the workload."""
    when: When = Field(default={})
    """Only when these settings of the workload have one of these values."""
    why: str
    """What the tool cannot do otherwise, as a sentence without its full stop."""


class Workload(Part):
    """What can be driven: by the load engine, or by a tool that the file says how to run."""

    summary: str
    """One sentence that says what it does."""
    notes: str = ""
    """What one must know to read its figures."""
    operation: str
    """The plural noun of one operation."""
    primary: str = "throughput"
    """The response that decides unless a study says otherwise."""
    speaks: Words = ()
    """The protocols that a service must speak, all of them; `any` is content with every service."""
    speaks_by: str | None = None
    """The setting whose value is the protocol that a service must speak."""
    expects: tuple[Expected, ...] = ()
    """How services must be set to answer it: `service`, `settings`, `when`, and `why`."""
    settings: dict[str, Setting]
    """What a study can say of it; each is a placeholder."""
    shares: Words = ()
    """Groups of settings that it has in common with others of the catalogue."""
    on: Literal["system", "generator"] = "system"
    """Where the tool runs: on the system itself, or on the generator against its service."""
    packages: dict[str, Words] = Field(default={})
    """What installs the tool, by distribution."""
    requires: Words = ()
    """Programs it needs: names that are searched for, or paths."""
    needs: Literal["root"] | None = None
    """`root` where no one else can run it."""
    version: ToolVersion | None = None
    """How the version of the tool is asked for."""
    placeholders: dict[str, Texts] = Field(default={})
    """Further placeholders, whose text depends on a setting."""
    words: dict[str, Words | dict[str, Words]] = Field(default={})
    """Words of a setting, used as `{words.NAME}`; by value where it has choices. None if unset."""
    files: tuple[FileText, ...] = ()
    """Files that are written before anything runs."""
    prepare: tuple[Step, ...] = ()
    """Commands that are run before the trial's window, in this order."""
    command: Words = ()
    """The words of the tool; `@engine` is the engine's own binary."""
    then: Words = ()
    """A further command that is run at its end and belongs to what is measured."""
    good_exits: tuple[int, ...] = (0,)
    """Exit codes of `command` that mean success."""
    ends: Literal["window", "by itself"] | None = None
    """`window`: the tool is given the duration; `by itself`: it ends when its work is done."""
    warmup: Literal["itself", "beforehand", "never"] = "never"
    """Who takes the warm-up: the tool, a run of the same command before, or no one."""
    cleanup: tuple[Step, ...] = ()
    """Commands that are always run at the end of a trial, also after a failure."""
    writes: dict[str, str] = Field(default={})
    """Files that the tool writes its output to, by a name for `from`."""
    scales: dict[str, dict[str, Factor]] = Field(default={})
    """Units that the tool prints, in the unit of a response, by a name for `scale`."""
    tables: dict[str, Table] = Field(default={})
    """Tables in its output, by name."""
    refuses: tuple[Refusal, ...] = ()
    """Output of which nothing is to be used."""
    metrics: dict[str, Metric] = Field(default={})
    """Its numbers, by the name of the response; each must be found in the output."""
    load: bool = False
    """Whether a study says how hard by `load`."""
    rate: bool = True
    """Whether its operations can be started by the clock."""
    counted: bool = True
    """Whether a service's own count of good answers covers its operations."""
    probe: dict[str, object] | None = None
    """Settings under which each operation has a connection of its own: it can be a probe."""
    request_times: bool = False
    """Whether a trial keeps the whole distribution of each part of a request."""
    calibration: Calibration | None = None
    """The engine's own server that shows what the generator can do at most."""
    runs: bool = True
    """`false`: known, and not run by this version."""

    @property
    def is_tool(self) -> bool:
        """Whether a program is run, and not a load driven by the engine."""
        return bool(self.command)

    @property
    def is_load(self) -> bool:
        """Whether it is a load that the engine drives."""
        return self.load and not self.is_tool

    def fits(self, spoken: tuple[str, ...]) -> bool:
        """Whether a service that speaks this can answer the workload."""
        return self.speaks == (ANY,) or set(self.speaks) <= set(spoken)

    def expected_of(self, service: str, settings: Mapping[str, object]) -> Iterator[Expected]:
        """What a study that sets the workload like this must set of a service."""
        for one in self.expects:
            if one.service == service and holds(one.when, settings):
                yield one

    def spoken_with(self, settings: Mapping[str, object]) -> Workload:
        """As a study with these settings drives it: speaking one protocol, where a setting says."""
        said = None if self.speaks_by is None else settings.get(self.speaks_by)
        return self.model_copy(update={"speaks": (said,)}) if isinstance(said, str) else self

    def scale_of(self, metric: Metric) -> Scale:
        """The scale of a metric, where it is named as that of this name."""
        scale = metric.scale
        return self.scales[scale] if isinstance(scale, str) else scale


def response_of(metric: Metric, standard: Response | None) -> Response:
    """What a metric is as a response of a study: a standard one is what it always is."""
    if standard is not None:
        return standard
    return Response(
        label=metric.label or "",
        unit=metric.unit or "",
        direction=metric.direction or "none",
        meaning=metric.meaning or "",
        source="tool",
        may_be_zero=bool(metric.may_be_zero),
        instances=metric.instances or "largest",
    )


_VERSION = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,9})*", re.ASCII)


def is_version(text: str) -> bool:
    """Whether a text is a version that can be compared."""
    return _VERSION.fullmatch(text) is not None


def within(version: str, least: str, before: str | None) -> bool:
    """Whether a version is at least ``least`` and comes before ``before``; all are versions."""
    numbers = _numbers(version)
    return _numbers(least) <= numbers and (before is None or numbers < _numbers(before))


def _numbers(version: str) -> tuple[int, ...]:
    """Without zeros at the end: ``3.0`` and ``3`` are the same."""
    numbers = [int(number) for number in version.split(".")]
    while len(numbers) > 1 and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)
