"""Asks a meter once: over HTTP, or by a command on the controller; each within its time.

Passwords are read by reference (``hosts/secrets.py``) and stand in no word of a command.
"""

from __future__ import annotations

import base64
import os
import ssl
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from http.client import HTTPException
from pathlib import Path

from steelyard.errors import HostError
from steelyard.hosts.secrets import secret_of
from steelyard.study.declared.placeholders import Value, fill
from steelyard.study.declared.setting import Settings, is_plain
from steelyard.study.lookup import meter_of
from steelyard.study.meter.checks import FOLDER
from steelyard.study.meter.entry import Program, Request, SharedSettings
from steelyard.study.model import MeterSpec
from steelyard.systems.meters.answer import AnswerError, AnswerForm, form_of
from steelyard.systems.meters.reading import MeterReading

_MOST_BYTES = 2**20
_SLUG = "system-cannot-be-prepared"


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A meter stands where its address says; a password goes nowhere else."""

    def redirect_request(self, *_: object) -> None:
        return None


@dataclass(frozen=True)
class OpenMeter:
    """A meter that can be asked; ``every_s`` is how often it has a new reading at most."""

    name: str
    form: AnswerForm
    every_s: float
    timeout_s: float
    _ask: Callable[[], str]

    def read(self) -> MeterReading:
        """One reading, usable or not; it takes little more than its time at the longest."""
        asked_ns = time.monotonic_ns()
        value: float | None = None
        moment: str | None = None
        try:
            value, moment = self.form.read(self._ask())
        except AnswerError as unusable:
            answered_ns = time.monotonic_ns()
            return MeterReading(asked_ns, answered_ns, problem=unusable.problem, said=unusable.said)
        answered_ns = time.monotonic_ns()
        if answered_ns - asked_ns > self.timeout_s * 1e9:
            took = f"{(answered_ns - asked_ns) / 1e9:.1f} s"
            return MeterReading(asked_ns, answered_ns, problem="late", said=took)
        return MeterReading(asked_ns, answered_ns, value, moment)


def open_meter(spec: MeterSpec) -> OpenMeter:
    """The meter of a study, its secrets read.

    Raises:
        HostError: a secret cannot be read.
    """
    entry = meter_of(spec)
    values = _values(spec.settings)
    if entry.http is not None:
        ask = partial(_fetch, _request(entry.http, values), _trusted(values), entry.timeout)
    elif entry.command is not None:
        ask = partial(_run, entry.command, values, entry.timeout)
    else:
        raise ValueError(f"nothing says how {spec.use} is asked")  # its file is checked
    return OpenMeter(spec.use, form_of(entry, values), entry.every, entry.timeout, ask)


def _values(settings: Settings) -> dict[str, Value]:
    """What stands in placeholders; a password as it is."""
    plain = {name: value for name, value in settings.items() if is_plain(value)}
    password = plain.get("password")
    if isinstance(password, str):
        plain["password"] = secret_of(password)
    return plain


def _request(asked: Request, values: Mapping[str, Value]) -> urllib.request.Request:
    headers = {name: fill(text, values) for name, text in asked.headers.items()}
    own = SharedSettings.of(values)
    if asked.login and own.user is not None:
        pair = f"{own.user}:{own.password or ''}".encode()
        headers["Authorization"] = f"Basic {base64.b64encode(pair).decode()}"
    url = fill(asked.url, values)
    if not url.startswith(("http://", "https://")):
        raise HostError(f"{url} is no address over HTTP", hint="write `http://...`", slug=_SLUG)
    return urllib.request.Request(url, headers={"Accept": "application/json", **headers})  # noqa: S310 - checked above


def _trusted(values: Mapping[str, Value]) -> ssl.SSLContext:
    """Certificates are always verified: with the system's authorities, or the study's own."""
    authority = SharedSettings.of(values).authority
    try:
        return ssl.create_default_context(cafile=authority)
    except OSError as error:
        raise HostError(
            f"the authority {authority} of the meter cannot be read: {error.strerror}",
            hint="write the path of a PEM file",
            slug=_SLUG,
        ) from error


def _fetch(request: urllib.request.Request, trusted: ssl.SSLContext, timeout_s: float) -> str:
    """The body; through no proxy, since a meter is near."""
    opener = urllib.request.build_opener(
        urllib.request.ProxyHandler({}), _NoRedirect, urllib.request.HTTPSHandler(context=trusted)
    )
    deadline = time.monotonic() + timeout_s
    body = b""
    try:
        with opener.open(request, timeout=timeout_s) as answer:
            while chunk := answer.read1(_MOST_BYTES):
                body += chunk
                if time.monotonic() > deadline:
                    raise AnswerError("late", f"no end after {timeout_s:g} s")
                if len(body) > _MOST_BYTES:
                    raise AnswerError("unreadable", "more than 1 MiB")
    except TimeoutError:
        raise AnswerError("late", f"no answer within {timeout_s:g} s") from None
    except urllib.error.HTTPError as error:
        raise AnswerError("silent", f"HTTP {error.code} {error.reason}") from None
    except (OSError, HTTPException, ValueError) as error:
        raise _unreached(error, timeout_s) from None
    return body.decode(errors="replace")


def _unreached(error: Exception, timeout_s: float) -> AnswerError:
    reason = getattr(error, "reason", error)
    if isinstance(reason, TimeoutError):
        return AnswerError("late", f"no answer within {timeout_s:g} s")
    return AnswerError("silent", getattr(reason, "strerror", None) or str(reason))


def _run(program: Program, values: Mapping[str, Value], timeout_s: float) -> str:
    """What the command printed; its files are gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="steelyard-meter-") as folder:
        known = {**values, FOLDER: folder}
        for name, text in program.files.items():
            Path(folder, name).write_text(fill(text, known), encoding="utf-8")
        words = [fill(word, known) for word in program.run]
        own = {name: fill(text, known) for name, text in program.environment.items()}
        try:
            ran = subprocess.run(
                words,
                check=False,
                capture_output=True,
                stdin=subprocess.DEVNULL,
                timeout=timeout_s,
                env={**os.environ, "LC_ALL": "C", **own},
            )
        except subprocess.TimeoutExpired:
            raise AnswerError("late", f"no answer within {timeout_s:g} s") from None
        except OSError as error:
            said = f"{words[0]}: {(error.strerror or str(error)).lower()}"
            raise AnswerError("silent", said) from None
    if ran.returncode != 0:
        said = ran.stderr.decode(errors="replace").strip() or f"exit code {ran.returncode}"
        raise AnswerError("silent", said)
    return ran.stdout.decode(errors="replace")
