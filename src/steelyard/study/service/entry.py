"""What a service file declares: how a server is prepared, started, known to be ready, and ended.

``docs/reference/service-file.md`` says every key. A text may hold placeholders such as
``{folder}``; ``placeholders.py`` fills them, ``checks.py`` knows which there are.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from steelyard.study.declared.setting import Entry, Setting, When, Words
from steelyard.study.file.kinds import Wait
from steelyard.study.file.meanings import DESCRIBED
from steelyard.study.settings import SettingsModel

READY_TIMEOUT_S = 60.0


class Part(Entry):
    """A mapping of a service file; the lines below a key say what it is."""

    model_config = DESCRIBED


class Step(Part):
    """A command that is run to its end before the service starts."""

    run: Words
    """The words of the command; it must end with exit code 0."""
    when: When = Field(default={})
    """Only when these settings have one of these values."""


class FileText(Part):
    """A file of the service's own, written before it starts."""

    at: str
    """Its path."""
    content: str
    """Its text."""
    mode: Annotated[str, Field(pattern=r"^[0-7]{3,4}$")] | None = None
    """Its permission bits, as `"600"`."""
    when: When = Field(default={})
    """Only when these settings have one of these values."""


class OneFile(Part):
    """A file of a size."""

    make: Literal["file"]
    at: str
    """Its path."""
    bytes: str
    """The setting that holds its size."""


class FilesBySize(Part):
    """One file for each size, named by its bytes."""

    make: Literal["files"]
    at: str
    """The folder they lie in."""
    sizes: str
    """The setting that holds their sizes."""


class Maildirs(Part):
    """A Maildir with messages for each of the users `user1`, `user2` ..."""

    make: Literal["maildirs"]
    at: str
    """The folder they lie in."""
    mailboxes: str
    """The setting that holds how many there are."""
    messages: str
    """The setting that holds how many messages are in each."""
    bytes: str
    """The setting that holds the size of a message."""


Content = Annotated[OneFile | FilesBySize | Maildirs, Field(discriminator="make")]


class Texts(Part):
    """A placeholder whose text depends on a setting."""

    by: str
    """The setting."""
    texts: dict[str, str]
    """The text for each value it can have."""


class Version(Part):
    """How the version is asked for."""

    run: Words
    """The words of the command; stdout and stderr are read."""
    pattern: str
    """A regular expression; its one group is the version."""


class Process(Part):
    """Another service that is part of this one and started before it."""

    use: str
    """Its name."""
    when: When = Field(default={})
    """Only when these settings have one of these values."""
    settings: dict[str, object] = Field(default={})
    """Its settings; `{NAME}` alone stands for the value of a setting of this service."""


LimitedQuantity = Literal[
    "connections",
    "connections of one login",
    "connections with the server's own two",
    "logins at once",
    "bytes of a message",
    "connections a minute",
    "messages a minute",
    "recipients a minute",
]

Ready = Literal["announced", "first line", "listening", "command"]


class Service(Part):
    """A server under test and the protocols it speaks."""

    summary: str
    """One sentence that says what it is."""
    notes: str = ""
    """What one must know to drive it: names, passwords, paths."""
    speaks: Words
    """The protocols it can be driven with."""
    started: bool = True
    """`false`: it runs already and is left alone."""
    packages: dict[str, Words] = Field(default={})
    """What installs it, by distribution."""
    requires: Words = ()
    """Programs it needs: names that are searched for, or paths."""
    needs: Literal["root"] | None = None
    """`root` where no one else can start it."""
    accounts: dict[str, str] = Field(default={})
    """Users and groups it runs as when root starts it, each a placeholder; else who starts it."""
    settings: dict[str, Setting]
    """What a study can say of it; each is a placeholder."""
    shares: Words = ()
    """Groups of settings that it has in common with others of the catalogue."""
    unset: dict[str, str] = Field(default={})
    """The text of a setting that a study leaves out and that has no default."""
    placeholders: dict[str, Texts] = Field(default={})
    """Further placeholders, whose text depends on a setting."""
    processes: dict[str, Process] = Field(default={})
    """Services that are part of it, by name; their listeners are placeholders `NAME_PROTOCOL`."""
    certificate: str | None = None
    """The setting that asks for TLS: unless it is `none`, a certificate and its key are made."""
    authority: str | None = None
    """The PEM file that its certificate can be verified with when it speaks TLS."""
    files: tuple[FileText, ...] = ()
    """Files of its own."""
    content: tuple[Content, ...] = ()
    """Test content, made of the setting `seed`."""
    prepare: tuple[Step, ...] = ()
    """Commands that are run before it starts, in this order."""
    sockets: Words = ()
    """Paths of its unix sockets; the system allows them 107 bytes."""
    command: Words = ()
    """The words that start it; it must stay in the foreground."""
    listeners: dict[str, str] = Field(default={})
    """The setting of kind `port` that each protocol listens on."""
    ready: Ready = "announced"
    """How it is known to be ready."""
    ready_command: Words = ()
    """The command that ends with exit code 0 once it is ready, for `ready: command`."""
    ready_timeout: Wait = READY_TIMEOUT_S
    """How long it may take to be ready, in seconds; a study may say another time."""
    stop: Words = ()
    """A command that ends it, before it is signalled."""
    version: Version | None = None
    """How its version is asked for."""
    limits: dict[str, str] = Field(default={})
    """Settings beyond which it refuses to serve, and what it refuses."""
    load_limits: dict[str, LimitedQuantity] = Field(default={})
    """Which of these limits a load can be held against before it runs, by what they count."""
    runs: bool = True
    """`false`: known, and not run by this version."""


class SharedSettings(SettingsModel):
    """What a service may have whatever it serves; ``None`` where it has no such setting."""

    tls: str | None = None
    seed: int | None = None
    speaks: tuple[str, ...] | None = None
    """The protocols of a server that runs already."""
    store: str | None = None
    sync: str | None = None


class ExternalSettings(SettingsModel):
    """A server that runs already."""

    address: str
    speaks: tuple[str, ...]
    listeners: dict[str, str] | None = None
    tls: str


SERVICE_SETTINGS: dict[str, type[SettingsModel]] = {"external": ExternalSettings}
"""The settings of each service that is not started by its file, by name."""
