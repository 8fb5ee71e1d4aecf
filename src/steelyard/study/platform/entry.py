"""The part of a platform's file that says with which commands it is driven.

Every key is described here and in ``docs/reference/platform-file.md``. Texts may hold
placeholders such as ``{label}``; ``placeholders.py`` knows which are there for which verb.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal, get_args

from pydantic import BeforeValidator, Field

from steelyard.study.file.kinds import Duration, Part
from steelyard.study.model import Reset

Verb = Literal[
    "up", "ready", "keep", "carry", "reset", "attach", "detach", "down", "exists", "read"
]


def _as_step(written: object) -> object:
    """A list is the words of a command, a text a script."""
    if isinstance(written, list):
        return {"run": written}
    return {"script": written} if isinstance(written, str) else written


class Command(Part):
    """One command: words, or a script for the shell of the platform."""

    run: list[str] = Field(default_factory=list)
    """The words of the command; the first is the tool."""
    script: str | None = None
    """Text for the platform's shell instead of words; values are quoted for it."""
    through: bool = True
    """Whether `through` and `shell` of the platform are in front of it."""


class Step(Command):
    """A command that changes something. A list is short for `run`, a text for `script`."""

    stdin: str | None = None
    """What the command reads from its standard input."""
    escape: Literal["none", "xml"] = "none"
    """How values are written into `stdin`."""
    within: Duration | None = None
    """Deadline of this command, instead of that of its verb."""
    fine: str | None = None
    """A regular expression: a failure whose output matches is none, such as `not running`."""
    until: str | None = None
    """A regular expression: the command is repeated until its output matches, or the deadline."""
    every: Duration = 0.5
    """Pause between two repetitions."""


StepWritten = Annotated[
    Step, BeforeValidator(_as_step, json_schema_input_type=Step | tuple[str, ...] | str)
]


class Reading(Command):
    """A value that is read from the output of a command."""

    inside: list[str] = Field(default_factory=list)
    """The words of a command that the agent inside runs, instead of `run`."""
    agent: Literal["boot_id"] | None = None
    """What the agent inside knows of itself, instead of `run`."""
    json_path: str | None = Field(default=None, alias="json")
    """Where the value lies in output that is JSON, such as `0.State.Pid`."""
    pattern: str | None = None
    """A regular expression whose first group is the value; without either, the whole output."""


class Proof(Reading):
    """A value that shows whether a reset was one."""

    expect: Literal["changed", "same"] | None = None
    """What it must be against its value before the reset."""
    equals: str | None = None
    """A text that it must be."""


class ResetCommands(Part):
    """How one strength of reset is done, and what proves it."""

    steps: list[StepWritten] = Field(default_factory=list)
    """Commands that reset the system."""
    remake: bool = False
    """Take the system down and make it anew, instead of `steps`."""
    prove: dict[str, Proof]
    """Values that are read after the reset (and before it, where they are compared), by name."""


class WrittenFile(Part):
    """A file on the machine that carries the system, written before `up`."""

    path: str
    """Where; `{folder}` is the folder of the system."""
    content: str
    """What it holds."""
    escape: Literal["none", "xml"] = "none"
    """How values are written into it."""


class Exists(Command):
    """How to tell whether a thing of this name is there, and whether it is ours."""

    absent: str
    """A regular expression: output that matches says that there is none."""
    ours: str
    """A regular expression: output that matches says that it is ours, by `{mark}`."""


class Inside(Part):
    """How the agent inside is reached: by `pipe` or by `join`."""

    pipe: list[str] = Field(default_factory=list)
    """Words before those of a command, which then runs inside with stdin and stdout joined."""
    join: list[str] = Field(default_factory=list)
    """Words that join stdin and stdout to an agent that already serves inside, by a socket."""
    quoting: Literal["none", "sh"] = "none"
    """`sh` joins the words of the command to one, quoted for a shell inside (as `ssh` needs)."""
    through: bool = True
    """Whether `through` and `shell` of the platform are in front of `pipe`, too."""


class FailureRule(Part):
    """What the words of a tool mean."""

    when: str
    """A regular expression that the tool's output matches."""
    kind: FailureKind
    """What that means."""
    hint: str | None = None
    """What to do about it."""


class CostsRead(Part):
    """What stands for the system on the machine that carries it, each read by name."""

    processes: dict[str, Reading] = Field(default_factory=dict)
    """Process ids: roots of process trees."""
    threads: dict[str, Reading] = Field(default_factory=dict)
    """Process ids whose threads of virtual processors are distinguished."""
    cgroups: dict[str, Reading] = Field(default_factory=dict)
    """Folders of control groups."""


class Commands(Part):
    """The commands of a platform by verb."""

    shell: Literal["none", "sh", "powershell"] = "none"
    """Who reads the words: no one, or the shell at the far end of `through`."""
    through: list[str] = Field(default_factory=list)
    """Words in front of every command, such as `ssh` and a host."""
    words: dict[str, list[str] | dict[str, list[str]]] = Field(default_factory=dict)
    """Words of a setting, used as `{words.NAME}`; by choice where it has choices. None if unset."""
    files: dict[str, WrittenFile] = Field(default_factory=dict)
    """Files that are written before `up`."""
    exists: Exists
    """How to tell whether a thing of this name is there and ours."""
    up: list[StepWritten]
    """Commands that make the system and start it."""
    ready: list[StepWritten] = Field(default_factory=list)
    """Commands that are repeated until they succeed, after `up` and after each reset."""
    keep: list[StepWritten] = Field(default_factory=list)
    """Commands after the system was first entered, such as the snapshot of a reset."""
    inside: Inside
    """How the agent inside is reached."""
    engine: str = "/var/lib/steelyard-engine"
    """Where the engine lies inside."""
    folder: str = "/var/lib/steelyard"
    """Where services keep their files inside; it is made."""
    carry: list[StepWritten] = Field(default_factory=list)
    """Commands that bring `{engine_here}` to `{engine}` inside."""
    reset: dict[Reset, ResetCommands] = Field(default_factory=dict)
    """Resets stronger than `service` and `process`."""
    attach: list[StepWritten] = Field(default_factory=list)
    """Commands that make an empty disk and attach it to the running system."""
    detach: list[StepWritten] = Field(default_factory=list)
    """Commands that take it off again and remove it."""
    caches: list[str] = Field(default_factory=list)
    """Places that may hold data of such a disk, from the system outwards."""
    down: list[StepWritten]
    """Commands that end and remove the system."""
    clean: list[StepWritten] = Field(default_factory=list)
    """Commands after `down` that remove what else was made; run even when the system is gone."""
    address: Reading
    """The IP address under which services inside are reached."""
    facts: dict[str, Reading] = Field(default_factory=dict)
    """What is true of the system and stays so, by name."""
    costs: CostsRead = Field(default_factory=CostsRead)
    """What to sample on the machine that carries the system."""
    failures: list[FailureRule] = Field(default_factory=list)
    """What the words of the tool mean; the first that matches counts."""
    console: str | None = None
    """A file on the carrying machine whose end is shown when the system does not become ready."""
    deadlines: dict[Verb, Duration] = Field(default_factory=dict)
    """Deadlines by verb."""

    def deadline_s(self, verb: Verb) -> float:
        """How long one command of a verb may take; for ``ready`` the whole wait."""
        return self.deadlines.get(verb, DEADLINES_S[verb])

    def readings(self) -> Iterator[tuple[tuple[str, ...], Reading]]:
        """Every reading outside resets, with its place in the file."""
        yield ("address",), self.address
        for name, reading in self.facts.items():
            yield ("facts", name), reading
        for kind in ("processes", "threads", "cgroups"):
            for name, reading in getattr(self.costs, kind).items():
                yield ("costs", kind, name), reading


DEADLINES_S: dict[Verb, float] = {
    "up": 300.0,
    "ready": 180.0,
    "keep": 120.0,
    "carry": 60.0,
    "reset": 120.0,
    "attach": 60.0,
    "detach": 60.0,
    "down": 120.0,
    "exists": 30.0,
    "read": 30.0,
}
STEP_VERBS: tuple[Verb, ...] = ("up", "keep", "carry", "attach", "detach", "down")


FailureKind = Literal[
    "image_missing",
    "image_unusable",
    "tool_missing",
    "no_rights",
    "no_space",
    "name_taken",
    "not_supported",
    "host_key",
    "engine_unfit",
    "tool_failed",
    "not_ready",
    "unreachable",
    "timed_out",
    "reset_not_proved",
]
FAILURE_KINDS: tuple[FailureKind, ...] = get_args(FailureKind)
