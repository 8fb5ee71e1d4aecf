"""Settings of services that code reads."""

from __future__ import annotations

from steelyard.study.settings import SettingsModel


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
