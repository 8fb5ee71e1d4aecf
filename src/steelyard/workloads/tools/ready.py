"""A tool made ready for one trial: found, its version known, its files there, its words filled."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from posixpath import dirname

from steelyard.engine.agent import AgentRefusal
from steelyard.engine.messages import Failure
from steelyard.hosts.digests import digests_of
from steelyard.hosts.host import Host
from steelyard.hosts.site import LOOK_S, Site, filled, look_around
from steelyard.hosts.undo.actions.command import Command
from steelyard.study.declared.conditions import holds
from steelyard.study.declared.placeholders import Value, placeholders
from steelyard.study.declared.setting import Settings, Words
from steelyard.study.lookup import workload_of
from steelyard.study.model import WorkloadSpec
from steelyard.study.resolve.entries import COMMAND
from steelyard.study.workload.entry import Workload
from steelyard.study.workload.placeholders import texts_of
from steelyard.workloads.tools.values import Values, command_words, tool_values
from steelyard.workloads.tools.version import supported_version

_ENGINE = "@engine"
PLAIN_WORDS = {"LC_ALL": "C"}
"""Every tool is run with these variables: output in another language cannot be parsed."""
NOT_ASKED = "not asked for"


@dataclass(frozen=True)
class ToolContext:
    """Where a tool is to run: ``folder`` is its own there, ``enter`` goes before its words.

    ``given`` fills the placeholders that no setting says. ``plan`` records an inverse before a
    change.
    """

    host: Host
    folder: str
    given: Mapping[str, Value]
    plan: Callable[[Command], None]
    longest_s: float
    enter: tuple[str, ...] = ()
    rehearsed: bool = False
    """Nothing is really run: then no version is read from what a tool said."""


@dataclass(frozen=True)
class ReadyTool:
    """``commands`` are run one after the other; ``warmup`` before them, and forgotten."""

    host: Host
    folder: str
    entry: Workload
    settings: Settings
    values: Mapping[str, Value]
    commands: tuple[tuple[str, ...], ...]
    warmup: tuple[str, ...] = ()
    version: str = NOT_ASKED
    writes: Mapping[str, str] = field(default_factory=dict)
    digests: str | None = None


def make_ready(spec: WorkloadSpec, context: ToolContext) -> ReadyTool:
    """Everything before the window, in its order; ``cleanup`` is planned before ``prepare``.

    Raises:
        SystemFailure: the tool is not there, or of a version that cannot be parsed.
        AgentRefusal: a file cannot be written, or a command of ``prepare`` failed.
    """
    entry = workload_of(spec)
    site = _site(entry, spec, context)
    values = tool_values(entry, spec.settings, {**context.given, "threads": site.threads})
    making = _Making(entry, spec, context, site, values)
    version = making.version()
    making.write_files()
    making.plan_cleanup()
    making.prepare()
    return ReadyTool(
        host=context.host,
        folder=context.folder,
        entry=entry,
        settings=spec.settings,
        values=values,
        commands=tuple(making.measured()),
        warmup=making.warmup(),
        version=version,
        writes={name: str(values[name]) for name in entry.writes},
        digests=making.digests(),
    )


def _site(entry: Workload, spec: WorkloadSpec, context: ToolContext) -> Site:
    asked = {place.name for _, text in texts_of(entry) for place in placeholders(text)}
    if not entry.requires and not entry.needs and "threads" not in asked:
        return Site()
    root = entry.needs == "root"
    try:
        return look_around(context.host, spec.use, entry.requires, entry.packages, root=root)
    except AgentRefusal as refusal:
        if refusal.failure.kind != "not_found" or entry.requires or entry.needs:
            raise
        return Site(threads=str(_allowed_cpus(context.host)))


def _allowed_cpus(host: Host) -> int:
    """How many processors the agent may use, where there is no shell to ask: only the engine."""
    allowed = host.thread_places(host.agent_pid).threads[0].allowed_cpus
    spans = (span.partition("-") for span in allowed.split(","))
    return sum(int(last or first) - int(first) + 1 for first, _, last in spans)


@dataclass(frozen=True)
class _Making:
    entry: Workload
    spec: WorkloadSpec
    context: ToolContext
    site: Site
    values: Values

    def words(self, templates: Words, values: Mapping[str, Value] | None = None) -> list[str]:
        """A command with its placeholders filled and its program by its path."""
        chosen = self.values if values is None else values
        return self.site.resolved(command_words(templates, self.entry, self.spec.settings, chosen))

    def version(self) -> str:
        asked = self.entry.version
        if asked is None:
            own = self.entry.command[:1] == (_ENGINE,)
            return self.context.host.engine_version if own else NOT_ASKED
        ran = self.context.host.run(
            self.words(asked.run), timeout_s=LOOK_S, environment=PLAIN_WORDS
        )
        if self.context.rehearsed:
            return NOT_ASKED
        return supported_version(asked, f"{ran.stdout}\n{ran.stderr}", self.spec.use)

    def digests(self) -> str | None:
        """Which program it is, of a command or a tool of the user's own."""
        if self.spec.text is None and self.spec.use != COMMAND:
            return None
        return digests_of(self.context.host, self.words(self.entry.command), self.context.folder)

    def write_files(self) -> None:
        host = self.context.host
        for file in self.entry.files:
            if holds(file.when, self.spec.settings):
                path = filled(file.at, self.values)
                host.make_directory(dirname(path))
                mode = None if file.mode is None else int(file.mode, 8)
                host.write_file(path, filled(file.content, self.values), mode=mode, create=True)

    def plan_cleanup(self) -> None:
        """Inverses are applied in reverse, so that the first command is planned last."""
        for step in reversed(self.entry.cleanup):
            if holds(step.when, self.spec.settings):
                words = self.words(step.run)
                self.context.plan(Command(tuple(words), f"run `{' '.join(words)}`"))

    def prepare(self) -> None:
        for step in self.entry.prepare:
            if holds(step.when, self.spec.settings):
                self._run(self.words(step.run))

    def measured(self) -> list[tuple[str, ...]]:
        """The command, and the further one if it has any words with these settings."""
        all_words = [self.words(self.entry.command), self.words(self.entry.then)]
        return [self._entered(words) for words in all_words if words]

    def warmup(self) -> tuple[str, ...]:
        """The command for as long as the warm-up, where the tool has none itself."""
        span = self.context.given["warmup"]
        if self.entry.warmup != "beforehand" or not span:
            return ()
        given = {**self.context.given, "threads": self.site.threads, "window": span}
        values = tool_values(self.entry, self.spec.settings, given)
        return self._entered(self.words(self.entry.command, values))

    def _entered(self, words: list[str]) -> tuple[str, ...]:
        """The command behind the words that enter groups: there no agent knows ``@engine``."""
        if not self.context.enter:
            return tuple(words)
        first = self.context.host.engine if words[0] == _ENGINE else words[0]
        return (*self.context.enter, first, *words[1:])

    def _run(self, argv: list[str]) -> None:
        context = self.context
        ran = context.host.run(
            argv,
            timeout_s=context.longest_s,
            directory=context.folder,
            environment=PLAIN_WORDS,
        )
        if not ran.succeeded:
            message = f"`{' '.join(argv)}`, which prepares {self.spec.use}, {ran.how_it_ended()}"
            kind = "disk_full" if "No space left" in ran.stderr + ran.stdout else "system"
            raise AgentRefusal("run", Failure(kind=kind, message=message))
