"""What every operation is made of: settings as read, the target they lead to, TLS and logins."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

Settings = Mapping[str, Any]
Operation = dict[str, Any]

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
class Driven:
    """What the settings of a cell are asked to become: ``width`` is users, or connections."""

    settings: Settings
    server: Server
    width: int


@dataclass(frozen=True)
class Row:
    """How a workload becomes a job: its target and its operation."""

    target: Callable[[Driven], str]
    operation: Callable[[Driven], Operation]


def target(protocol: str, *, implicit: str | None = None) -> Callable[[Driven], str]:
    """``PROTOCOL://ADDRESS``, or the scheme that speaks TLS from the first byte."""

    def build(driven: Driven) -> str:
        secure = implicit is not None and driven.settings.get("tls") == "implicit"
        scheme = implicit if secure else protocol
        return f"{scheme}://{driven.server.speaking(protocol)}"

    return build


def starttls(settings: Settings) -> str:
    """Whether a clear-text connection is upgraded."""
    return "require" if settings.get("tls") == "starttls" else "never"


def tls(driven: Driven) -> dict[str, Any]:
    """How TLS is spoken; certificates are verified unless the study says otherwise."""
    return {
        "insecure": driven.settings.get("certificate") == "any",
        "ca_file": driven.server.authority,
        "server_name": None,
        "resume": False,
    }


def login(driven: Driven) -> dict[str, Any]:
    """Who logs in: as many as the study says, or one for each user of the load."""
    settings = driven.settings
    return {
        "user": settings["user"],
        "password": settings["password"],
        "users": settings["logins"] or driven.width,
        "mechanism": settings.get("auth") or "login",
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
