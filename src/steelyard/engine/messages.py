"""The engine's documents, as far as Python reads them.

The whole documents are described by ``schemas/*.schema.json``, generated from ``crates/wire``;
they are stored as they came. These models name the fields that decide something here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import takewhile
from typing import Any, Literal, TypeVar

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError

from steelyard.errors import EngineError
from steelyard.records.warnings import WarningKind

PROTOCOL = 1
OTHER_VERSION = "engine-of-another-version"
"""The slug of an error that only another installation corrects."""


class _Message(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", defer_build=True)


_Answer = TypeVar("_Answer", bound=_Message)


def as_answered(model: type[_Answer], answer: object) -> _Answer:
    """An agent's answer.

    Raises:
        EngineError: it is something else, as from an agent of another version.
    """
    try:
        return model.model_validate(answer)
    except (ValidationError, RecursionError) as error:
        raise EngineError(
            f"the agent's answer is no {model.__name__}: {_first_mistake(error)}",
            hint="install package and engine together, on every machine",
            slug="engine-of-another-version",
        ) from error


def _first_mistake(error: ValidationError | RecursionError) -> str:
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    first = error.errors(include_url=False, include_input=False)[0]
    return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"


def _end_in_words(exit_code: int | None, signal: int | None) -> str:
    return f"exited with code {exit_code}" if signal is None else f"ended by signal {signal}"


_ON_USAGE = re.compile(
    r"\s*(usage:|tar: error is not rec|try ['`\"]?\S+ .*(help|-h)\b)", re.IGNORECASE
)


def complaint(stderr: str, stdout: str = "") -> str:
    """The message of a tool that failed, without the usage that many print after it.

    Of stdout where stderr is empty: some complain there.
    """
    lines = (stderr.strip() or stdout.strip()).splitlines()
    before = list(takewhile(lambda line: not _ON_USAGE.match(line), lines))
    return "\n".join(before).strip() or "\n".join(lines)


def _with_last_words(how: str, stderr: str) -> str:
    said = complaint(stderr)
    return f"{how}; its last words: {said.splitlines()[-1].strip()}" if said else how


class Failure(_Message):
    """Why the agent did not do something."""

    kind: str
    message: str
    hint: str | None = None


class Hello(_Message):
    protocol: int
    version: str
    pid: int
    boot_id: str | None


class Started(_Message):
    """A process that an agent started; pid and start time together name it for all time."""

    pid: int
    start_ticks: int
    ready_line: str | None


class ProcessState(_Message):
    """``tree_running``: it, or anything it started, is still there."""

    running: bool
    tree_running: bool = False
    exit_code: int | None
    signal: int | None
    user_ns: int | None
    system_ns: int | None
    max_rss_bytes: int | None
    stderr_tail: str
    stdout_tail: str = ""
    stop_failed: str | None = None
    """How the command that was to stop it failed; signals did it then."""

    def how_it_ended(self) -> str:
        """In words, with the last it said."""
        return _with_last_words(_end_in_words(self.exit_code, self.signal), self.stderr_tail)


class Ran(_Message):
    """A program that was run to its end; that it failed is an answer like any other."""

    exit_code: int | None
    signal: int | None
    stdout: str
    stderr: str
    stdout_truncated: bool
    stderr_truncated: bool
    timed_out: bool
    cancelled: bool
    started_monotonic_ns: int
    ended_monotonic_ns: int
    user_ns: int
    system_ns: int
    max_rss_bytes: int

    @property
    def succeeded(self) -> bool:
        """Whether it ended by itself with exit code 0."""
        return self.exit_code == 0

    def how_it_ended(self) -> str:
        """In words, with the last it said."""
        if self.timed_out:
            return _with_last_words("did not end in time and was killed", self.stderr)
        if self.cancelled:
            return "was cancelled"
        return _with_last_words(_end_in_words(self.exit_code, self.signal), self.stderr)


class FileContent(_Message):
    """``exact`` when ``content`` is the whole file, byte for byte."""

    content: str
    exact: bool
    size_bytes: int


class PathFacts(_Message):
    """``kind`` to ``mode`` are of the path itself, the rest of its nearest parent that exists."""

    device: str | None
    filesystem: str | None
    options: str | None
    free_bytes: int | None
    exists: bool
    kind: Literal["file", "folder", "device", "link", "other"] | None = Field(
        validation_alias=AliasChoices("path_kind", "kind")
    )
    size_bytes: int | None
    mode: int | None


class Facts(_Message):
    values: dict[str, str | None]


class Clock(_Message):
    """``received_monotonic_ns``: the request was read; the other two: the reply was written."""

    received_monotonic_ns: int
    monotonic_ns: int
    realtime_ns: int


class Latency(_Message):
    count: int
    min: int | None
    mean: float | None
    max: int | None
    p50: int | None
    p90: int | None
    p95: int | None
    p99: int | None
    p999: int | None
    p9999: int | None
    hdr_v2_b64: str = ""


class Counts(_Message):
    intended: int
    unsent: int
    sent: int
    ok: int
    errors: int
    inflight_at_stop: int
    warmup: int = 0


class Rates(_Message):
    ok_per_s: float


class Window(_Message):
    job: dict[str, Any] = {}
    window_ns: int
    window_start_monotonic_ns: int
    window_end_monotonic_ns: int
    first_sent_monotonic_ns: int | None = None


class GeneratorCpu(_Message):
    ns_per_operation: float | None
    busiest_worker_ratio: float


class LoadWarning(BaseModel):
    """Why the generator's figures are not to be trusted.

    ``part`` is one of a mix, ``generator`` the number of one of several.
    """

    model_config = ConfigDict(frozen=True, extra="allow", defer_build=True)

    state: Literal["suspect", "invalid"]
    kind: WarningKind
    part: str | None = None
    generator: int | None = None

    @property
    def figures(self) -> Mapping[str, float]:
        """The figures of its kind, with units in their names."""
        return self.model_extra or {}


class Verdict(_Message):
    state: Literal["valid", "suspect", "invalid"]
    warnings: tuple[LoadWarning, ...]


class KindFigures(_Message):
    latency_ns: Latency


class Payload(_Message):
    checked: int
    corrupted: int
    lost: int | None


class Flow(_Message):
    datagrams_sent: int | None = None
    datagrams_received: int | None = None
    datagrams_lost: int | None = None
    datagrams_reordered: int | None = None
    jitter_ns: int | None = None
    retransmits: int | None = None
    broken: str | None = None


class Stream(_Message):
    flows: tuple[Flow, ...]
    sent_bytes_per_s: float | None
    received_bytes_per_s: float | None


class LoadResult(_Message):
    """One load run; ``docs/reference/result.md`` says what each figure means."""

    counts: Counts
    errors: dict[str, dict[str, int]]
    connection_errors: dict[str, dict[str, int]] = {}
    ramp_errors: dict[str, dict[str, int]] = {}
    replies: dict[str, dict[str, str]] = {}
    rates: Rates
    latency_ns: dict[str, Latency]
    load: Window
    cpu: GeneratorCpu
    operations: dict[str, KindFigures] = {}
    payload: Payload | None = None
    stream: Stream | None = None
    verdict: Verdict


class Samples(_Message):
    """Counters as read; rows by time, columns by name; ``None`` where the kernel has none."""

    monotonic_ns: list[int]
    read_ns: list[int]
    columns: dict[str, list[int | None]]
    rows_lost: int
    missing: dict[str, str]


class ThreadPlace(_Message):
    """Where one thread may run (``0-1,4``) and where it last did; ``name`` is at most 15 bytes."""

    process: int
    id: int
    name: str
    allowed_cpus: str
    last_cpu: int


class ThreadPlaces(_Message):
    """The threads of a process and of all below it."""

    threads: list[ThreadPlace]


class Reply(_Message):
    """One line from the agent: exactly one of ``ok`` and ``error``."""

    id: int
    ok: dict[str, Any] | None = None
    error: Failure | None = None


class AgentRefusal(Exception):  # noqa: N818 - a refusal is an answer, not an error of the agent
    """The agent answered that it could not do what was asked; ``failure`` says why."""

    def __init__(self, verb: str, failure: Failure) -> None:
        super().__init__(f"{verb}: {failure.message}")
        self.failure = failure
