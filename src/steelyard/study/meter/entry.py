"""What a meter file declares: how a meter of power or energy is asked, and how its answer is read.

``docs/reference/meter-file.md`` says every key. A text may hold placeholders such as ``{address}``,
which stand for the settings; ``checks.py`` knows which there are.
"""

from __future__ import annotations

from pydantic import Field

from steelyard.study.declared.setting import Entry, Setting, Words
from steelyard.study.file.kinds import Wait
from steelyard.study.file.meanings import DESCRIBED
from steelyard.study.settings import SettingsModel

TIMEOUT_S = 5.0
UNITS: dict[str, float] = {
    "mW": 1e-3,
    "W": 1.0,
    "kW": 1e3,
    "J": 1.0,
    "Wmin": 60.0,
    "Wh": 3600.0,
    "kWh": 3.6e6,
}
"""What one of each is in watts or, of a counter of energy, in joules."""
COUNTED = frozenset({"J", "Wmin", "Wh", "kWh"})
"""Units of a counter, which only rises; the others are of power at a moment."""


class Part(Entry):
    """A mapping of a meter file; the lines below a key say what it is."""

    model_config = DESCRIBED


class Request(Part):
    """What is fetched over HTTP or HTTPS; the answer is JSON unless patterns read it."""

    url: str
    """The address that is fetched."""
    headers: dict[str, str] = Field(default={})
    """Header fields that are sent with it."""
    login: bool = False
    """Whether the settings `user` and `password`, where a study gives them, are sent (Basic)."""


class Program(Part):
    """What is run on the controller; what it prints is the answer."""

    run: Words
    """The words of the command; it must end with exit code 0."""
    environment: dict[str, str] = Field(default={})
    """Variables of its environment; the place for passwords, which `ps` shows among words."""
    files: dict[str, str] = Field(default={})
    """Files by name, in a folder that only its owner reads, `{folder}`."""


class Found(Part):
    """A place in the answer: `at` in JSON, or `pattern` in text."""

    at: str | None = None
    """Where it stands in JSON, as `meters.0.power`."""
    pattern: str | None = None
    """A regular expression; its one group is what is looked for."""


class Value(Found):
    """The number that the meter tells."""

    unit: str
    """mW, W or kW; of a counter J, Wmin, Wh or kWh."""
    factor: float | str = 1.0
    """What the number is multiplied by to be in this unit."""
    resolution: float | str
    """The step in which it counts, in this unit."""


class Told(Found):
    """The word with which the answer names its unit."""

    word: str
    """What must stand there; with another one the answer is not used."""


class Meter(Part):
    """A meter of power or energy outside of the machine that it measures."""

    summary: str
    """One sentence that says what it is."""
    notes: str = ""
    """What one must know to use it."""
    settings: dict[str, Setting]
    """What a study can say of it; each is a placeholder."""
    packages: dict[str, Words] = Field(default={})
    """What installs the program that asks it, by distribution."""
    http: Request | None = None
    """How it is asked over HTTP."""
    command: Program | None = None
    """Or the command that asks it."""
    value: Value
    """The number, its unit and its resolution."""
    unit_told: Told | None = None
    """Where the answer names its unit."""
    moment: Found | None = None
    """Where the answer tells when it was measured; one that tells the same again is no new one."""
    every: Wait
    """How often the meter has a new reading at most."""
    timeout: Wait = TIMEOUT_S
    """How long an answer may take."""
    verified: bool = False
    """Whether it was read on the real thing; a test against a fake meter is not that."""


class SharedSettings(SettingsModel):
    """What code reads of the settings of a meter, where it has them."""

    user: str | None = None
    password: str | None = None
    authority: str | None = None
    """The PEM file that its certificate can be verified with."""
