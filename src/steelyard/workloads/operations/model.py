"""What every operation is made of: settings as read, the target they lead to, TLS and logins."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from steelyard.study.declared.setting import Settings
from steelyard.study.settings import SettingsModel
from steelyard.study.workload.settings import LoginSettings, MailLoginSettings, TlsSettings

S = TypeVar("S", bound=SettingsModel)
S_co = TypeVar("S_co", bound=SettingsModel, covariant=True)
Document = dict[str, object]
"""A part of a job, as JSON has it."""

NS = 1_000_000_000
_BITS = 8


@dataclass(frozen=True)
class Server:
    """Where the load goes: an address for each protocol, and what verifies its certificate."""

    address: str
    listeners: Mapping[str, str] = field(default_factory=dict)
    authority: str | None = None

    def speaking(self, protocol: str) -> str:
        """Its address for one of its protocols."""
        return self.listeners.get(protocol, self.address)


@dataclass(frozen=True)
class Driven(Generic[S_co]):
    """The settings of one cell at their server; ``width`` is users, or connections."""

    settings: S_co
    server: Server
    width: int


@dataclass(frozen=True)
class Operation:
    """What one operation is: where it goes, and the part of the job that describes it."""

    target: str
    document: Document


Maker = Callable[[Settings, Server, int], Operation]
"""Makes the operation of a workload from its settings, its server and the width of the load."""


def maker(
    model: type[S],
    target_of: Callable[[Driven[S]], str],
    document_of: Callable[[Driven[S]], Document],
) -> Maker:
    """How a workload with the settings of this model becomes an operation."""

    def make(settings: Settings, server: Server, width: int) -> Operation:
        driven = Driven(model.of(settings), server, width)
        return Operation(target_of(driven), document_of(driven))

    return make


def target(protocol: str, *, implicit: str | None = None) -> Callable[[Driven[TlsSettings]], str]:
    """``PROTOCOL://ADDRESS``, or the scheme that speaks TLS from the first byte."""

    def build(driven: Driven[TlsSettings]) -> str:
        secure = implicit is not None and driven.settings.tls == "implicit"
        scheme = implicit if secure else protocol
        return f"{scheme}://{driven.server.speaking(protocol)}"

    return build


def starttls(settings: TlsSettings) -> str:
    """Whether a clear-text connection is upgraded."""
    return "require" if settings.tls == "starttls" else "never"


def login(driven: Driven[LoginSettings]) -> Document:
    """Who logs in: as many as the study says, or one for each user of the load."""
    settings = driven.settings
    return {
        "user": settings.user,
        "password": settings.password,
        "users": settings.logins or driven.width,
        "mechanism": settings.auth if isinstance(settings, MailLoginSettings) else "login",
    }


def weights(written: tuple[str, ...]) -> dict[str, float]:
    """``("fetch=3", "noop")`` as weights by word; a word alone weighs 1."""
    pairs = (item.partition("=")[::2] for item in written)
    return {word.strip(): float(weight) if weight else 1.0 for word, weight in pairs}


def bytes_per_s(bits_per_s: float) -> float:
    """A rate of the study in bytes."""
    return bits_per_s / _BITS


def ns(duration_s: float) -> int:
    """A duration of the study in the engine's unit."""
    return round(duration_s * NS)
