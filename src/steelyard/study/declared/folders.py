"""Which folders belong to a system itself, so that no study writes test data into them. Pure."""

from __future__ import annotations

from posixpath import normpath

_WHOLE = ("bin", "boot", "dev", "etc", "lib", "lib32", "lib64", "proc", "run", "sbin", "sys", "usr")
_WHOLE_PATHS = (*(f"/{name}" for name in _WHOLE), "/var/lib/dpkg")
"""Nothing below these is a place for test data."""
_THEMSELVES = ("/", "/home", "/opt", "/root", "/srv", "/var", "/var/lib")
"""These hold what others own; a folder below one of them may be for data."""


def system_folder(path: str) -> str | None:
    """The folder of the system that ``path`` is or lies in; ``None`` where it is another."""
    plain = "/" + normpath(path).lstrip("/")
    if plain in _THEMSELVES:
        return plain
    return next((f for f in _WHOLE_PATHS if plain == f or plain.startswith(f"{f}/")), None)
