"""Secrets by reference: read where they are needed, and in no record.

A password of a study may be ``${env:NAME}``, ``${file:PATH}`` or ``${command:WORDS}``. Only what is
sent to an agent, over its pipe, holds the secret itself.
"""

from __future__ import annotations

import functools
import os
import re
import shlex
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from steelyard.errors import HostError
from steelyard.study.declared.setting import Settings, SettingValue
from steelyard.study.model import Study

_REFERENCE = re.compile(r"\$\{([A-Za-z][A-Za-z0-9_-]*):([^}]*)(\}?)")
_SECRET = "password"  # noqa: S105 - the name of the key
NOT_RECORDED = "not recorded"
_COMMAND_S = 60.0


def with_secrets(job: dict[str, Any]) -> dict[str, Any]:
    """A job in which every reference of a password is replaced by what it refers to.

    Raises:
        HostError: it cannot be read.
    """
    replaced: dict[str, Any] = _passwords(job, secret_of)
    return replaced


def without_secrets(document: dict[str, Any]) -> dict[str, Any]:
    """A result as it is recorded: without passwords, also those that the study wrote out."""
    replaced: dict[str, Any] = _passwords(document, lambda _: NOT_RECORDED)
    return replaced


def refuse_missing_secrets(study: Study) -> None:
    """Before anything has started.

    Raises:
        HostError: a secret of a workload, a meter or a level cannot be read.
    """
    for error in missing_secrets(study):
        raise error


def refuse_wrong_references(study: Study) -> None:
    """Also where the secrets themselves are not, and without reading one.

    Raises:
        HostError: a reference is of a kind that is not known.
    """
    for written in _passwords_of(study):
        for reference in _REFERENCE.finditer(written):
            _refuse_unknown(reference)


def missing_secrets(study: Study) -> Iterator[HostError]:
    """One for each secret of a study that cannot be read here."""
    for written in dict.fromkeys(_passwords_of(study)):
        try:
            secret_of(written)
        except HostError as error:
            yield error


def _passwords_of(study: Study) -> Iterator[str]:
    meters = [system.meter for system in study.systems.values() if system.meter is not None]
    driven = [*study.workloads.values(), *study.background.values()]
    parts = [*(each.settings for each in driven), *(each.settings for each in meters)]
    parts += [] if study.latency_probe is None else [study.latency_probe.settings]
    placed = [one for each in study.scenarios.values() for one in each.instances.values()]
    parts += [each.settings for several in placed for each in several]
    found: list[object] = [settings.get(_SECRET) for settings in parts]
    screened = {} if study.screen is None else study.screen.factors
    for name, levels in (*study.factors.items(), *screened.items()):
        found += levels if name.rpartition(".")[2] == _SECRET else ()
    found += study.compared if study.compare.rpartition(".")[2] == _SECRET else ()
    yield from (written for written in found if isinstance(written, str))


def without_password(settings: Settings) -> dict[str, SettingValue]:
    """Settings as facts of a record."""
    return {name: value for name, value in settings.items() if name != _SECRET}


def secret_of(written: str) -> str:
    """What a text refers to; the text itself, where it is no reference.

    Raises:
        HostError: it cannot be read.
    """
    return _REFERENCE.sub(_referred, written)


def _referred(match: re.Match[str]) -> str:
    _refuse_unknown(match)
    return _read(match[1], match[2])


def _refuse_unknown(match: re.Match[str]) -> None:
    """What a reference of another shape would be is no password either."""
    kind, name, closed = match.groups()
    if kind not in _READERS or not name or not closed:
        raise HostError(
            f"the secret ${{{kind}:...}} cannot be read: it is no reference that is known",
            hint="write `${env:NAME}`, `${file:PATH}` or `${command:WORDS}`",
            slug="secret-cannot-be-read",
        )


@functools.cache
def _read(kind: str, name: str) -> str:
    try:
        secret = _READERS[kind](name)
    except (OSError, KeyError, ValueError, subprocess.SubprocessError) as error:
        raise HostError(
            f"the secret ${{{kind}:{name}}} cannot be read: {_why(error)}",
            hint="set it where this command runs; docs/reference/study-file.md says how",
            slug="secret-cannot-be-read",
        ) from error
    return secret.rstrip("\r\n")


def _why(error: Exception) -> str:
    """Never the output of a command, which may hold a part of it."""
    match error:
        case KeyError():
            return "there is no such environment variable"
        case OSError():
            return error.strerror or "it cannot be opened"
        case subprocess.CalledProcessError():
            return f"the command ended with exit code {error.returncode}"
    return "it does not end, or is no text"


def _of_file(name: str) -> str:
    return Path(name).expanduser().read_text(encoding="utf-8")


def _of_command(words: str) -> str:
    ran = subprocess.run(
        shlex.split(words), check=True, capture_output=True, text=True, timeout=_COMMAND_S
    )
    return ran.stdout


_READERS: dict[str, Callable[[str], str]] = {
    "env": os.environ.__getitem__,
    "file": _of_file,
    "command": _of_command,
}


def _passwords(part: Any, change: Callable[[str], str]) -> Any:
    if isinstance(part, list):
        return [_passwords(each, change) for each in part]
    if not isinstance(part, dict):
        return part
    return {
        key: change(value)
        if key == _SECRET and isinstance(value, str)
        else _passwords(value, change)
        for key, value in part.items()
    }
