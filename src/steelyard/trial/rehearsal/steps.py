"""What a run would do to machines, as data: each step once, in the order of the first time."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from steelyard.systems.services.ports import FIRST_PORT, PORTS

StepKind = Literal[
    "run", "start", "wait", "agent", "write", "make_folder", "remove", "sync", "drop_caches",
    "stop", "end_process", "load", "look", "not_known",
]  # fmt: skip
KERNEL = ("/proc/", "/sys/")
_ROOT_PROGRAMS = frozenset({
    "chown", "ip", "losetup", "mdadm", "mknod", "modprobe", "mount", "nsenter", "systemd-nspawn",
    "tuned-adm", "umount", "unshare", "wipefs",
})  # fmt: skip
_SHORT = re.compile(r"/tmp/steelyard-[0-9a-f]{10}")  # noqa: S108 - made by the agent there
_ATTEMPT = re.compile(r"([/-])(\d{4,}-\d+)(-?)")
_NUMBER = re.compile(r'(?<![\w.])(?<!"pid": )\d{5}(?!\w)')
_LONGEST_TEXT = 4096


@dataclass(frozen=True)
class Step:
    """One thing that is done on ``machine``, for ``systems``, in a phase of a trial.

    ``words`` of a command; ``path`` of what is made, written or removed; ``now`` what a value of
    the kernel is, ``then`` what it is set to, or the content of a file. ``stdin`` is what a command
    reads, ``said`` why a step cannot be known, ``within_s`` how long is waited at most: for the
    first line of what is started, or for who listens at ``path``.
    """

    machine: str
    phase: str
    kind: StepKind
    words: tuple[str, ...] = ()
    path: str | None = None
    now: str | None = None
    then: str | None = None
    size_bytes: int | None = None
    stdin: str | None = None
    said: str | None = None
    within_s: float | None = None
    systems: tuple[str, ...] = ()

    @property
    def is_setting(self) -> bool:
        """Whether it sets a value of the kernel."""
        return self.kind == "write" and (self.path or "").startswith(KERNEL)

    @property
    def needs_root(self) -> bool:
        """Whether only root may do it, as far as its words show."""
        if self.kind in ("run", "start", "agent"):
            program = self.words[0].rpartition("/")[2] if self.words else ""
            return program in _ROOT_PROGRAMS or program.startswith("mkfs")
        return self.kind == "drop_caches" or self.is_setting

    def document(self) -> dict[str, Any]:
        """For JSON: what is not there is left out."""
        told = {name: value for name, value in asdict(self).items() if value not in (None, ())}
        return told | ({"needs_root": True} if self.needs_root else {})


@dataclass
class Steps:
    """Collects them; ``system`` and ``phase`` say what is being gone through.

    ``names`` are texts that are other ones in each run, and what stands for them; ``attempts`` are
    keys that are other ones in each trial. ``ports`` are the numbers that the study itself names.
    """

    names: dict[str, str] = field(default_factory=dict)
    ports: frozenset[str] = frozenset()
    attempts: set[str] = field(default_factory=set)
    system: str = ""
    phase: str = ""
    _found: dict[tuple[Step, int], list[str]] = field(default_factory=dict)
    _unmounts: Counter[Step] = field(default_factory=Counter)

    def begin(self, attempt: str, system: str) -> None:
        """What follows is of an attempt with this key on a system."""
        self.system = system
        self.attempts.add(attempt)
        self._unmounts.clear()

    def note(self, machine: str, kind: StepKind, **more: Any) -> None:
        """Adds a step, unless it is known; then the system is added to those it is for.

        A disk that is mounted again within an attempt is let go again.
        """
        told = {name: self._plain(value) for name, value in more.items()}
        step = Step(machine, self.phase, kind, **told)
        if step.words[:1] == ("umount",):
            self._unmounts[step] += 1
        systems = self._found.setdefault((step, self._unmounts[step]), [])
        if self.system and self.system not in systems:
            systems.append(self.system)

    def all(self) -> list[Step]:
        """Every step, with the systems it is for."""
        return [replace(step, systems=tuple(names)) for (step, _), names in self._found.items()]

    def _plain(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._named(value)
        if isinstance(value, (list, tuple)):
            return tuple(self._named(str(word)) for word in value)
        return value

    def _named(self, text: str) -> str:
        for name, stands in self.names.items():
            text = text.replace(name, stands)
        text = _ATTEMPT.sub(self._trial, text)
        text = _SHORT.sub("/tmp/steelyard-HASH", text)  # noqa: S108
        return _NUMBER.sub(self._port, text)

    def _trial(self, found: re.Match[str]) -> str:
        before, key, after = found.groups()
        whole = before == "/" or after == "-"
        return f"{before}TRIAL{after}" if whole and key in self.attempts else found[0]

    def _port(self, found: re.Match[str]) -> str:
        free = FIRST_PORT <= int(found[0]) < FIRST_PORT + PORTS and found[0] not in self.ports
        return "PORT" if free else found[0]


def shortened(text: str) -> tuple[str | None, int]:
    """Content and size; no content where it is long, such as that of a test file."""
    size_bytes = len(text.encode())
    return (text if size_bytes <= _LONGEST_TEXT else None), size_bytes


def numbers_in(settings: Mapping[str, object]) -> set[str]:
    """Whole numbers among settings, which may be ports that the study names."""
    return {str(value) for value in settings.values() if isinstance(value, int)}
