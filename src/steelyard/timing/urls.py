"""Servers that run already as subjects: each visit is a short load of the engine."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from shlex import quote
from typing import Any
from urllib.parse import urlsplit

from steelyard.errors import HostError
from steelyard.records.results.timing import Quantity, TimedVisit

THROUGHPUT = Quantity("throughput", "throughput", "operations/s", "higher")
MEDIAN = Quantity("latency_p50", "median response time", "ns", "lower")
TAIL = Quantity("latency_p99", "99th percentile", "ns", "lower")
_LONGEST_S = 120.0
_OPTIONS_HINT = "give options of `steelyard load` after `--`"
_FOR_TLS = {"--insecure": 0, "-k": 0, "--tls-resume": 0, "--cacert": 1, "--servername": 1}
"""Options of the engine that clear text refuses, and how many words follow them."""
_TLS_SCHEMES = frozenset({"https", "smtps", "lmtps", "pop3s", "imaps", "ftps"})
_WINDOWS = 5
"""How many windows may pass, on a machine that is busy elsewhere, before one holds an answer."""


class LoadFailedError(HostError):
    """The engine could not drive a server, or no operation succeeded."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message, hint=hint, slug="load-failed")


class Urls:
    """Several addresses under the same load."""

    responses = (THROUGHPUT, MEDIAN, TAIL)
    executions_per_visit = 1

    def __init__(
        self,
        engine: Path,
        urls: Mapping[str, str],
        options: Sequence[str],
        window_s: float,
        judged: str = THROUGHPUT.name,
    ) -> None:
        self.subjects = dict(urls)
        self._engine, self._window_s = engine, window_s
        self._options = {
            name: options_of(url, urls.values(), options) for name, url in urls.items()
        }
        self._judged = next(each for each in self.responses if each.name == judged)

    def prepare(self, warmups: int, visit_s: float) -> float:  # noqa: ARG002 - the window is given
        """One load of each that is not judged, at least; seconds of a visit."""
        for name in self.subjects:
            for _ in range(warmups + 1):
                self.visit(name)
        return self._window_s

    def visit(self, name: str) -> TimedVisit:
        """One window in which an operation succeeded; those before it, without any, are counted.

        Raises:
            LoadFailedError: operations failed, or none ended in any of several windows.
        """
        for empty_windows in range(_WINDOWS):
            found = self._load(name)
            if ok := found["counts"]["ok_in_window"]:
                visit = _visit(name, found, empty_windows)
                self._refuse_without(visit, ok)
                return visit
            failures = _by_kind(found["errors"]) | _by_kind(found["connection_errors"])
            if failures:
                raise LoadFailedError(
                    f"no operation of {name} succeeded ({_in_words(failures)})",
                    f"try it alone: steelyard load {quote(self.subjects[name])}",
                )
        raise LoadFailedError(
            f"no operation of {name} ended in {_WINDOWS} windows of {self._window_s:g} s",
            "measure longer: give a longer --window",
        )

    def _refuse_without(self, visit: TimedVisit, ok: int) -> None:
        if self._judged.name not in visit.values:
            raise LoadFailedError(
                f"a window of {self._window_s:g} s of {visit.subject} held {ok} operations, too "
                f"few for its {self._judged.label}",
                "measure longer: give a longer --window; or judge throughput",
            )

    def end(self) -> None:
        """Nothing was started."""

    def _load(self, name: str) -> dict[str, Any]:
        window = f"{round(self._window_s * 1000)}ms"
        words = [str(self._engine), "load", self.subjects[name], "-d", window, "--json"]
        done = subprocess.run(
            [*words, *self._options[name]],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_LONGEST_S,
            check=False,
        )
        try:
            found: dict[str, Any] = json.loads(done.stdout)
        except ValueError as error:
            raise LoadFailedError(
                f"{name} cannot be loaded, exit code {done.returncode}: {done.stderr.strip()}",
                _OPTIONS_HINT,
            ) from error
        failed = found.get("failed")
        if failed is not None:
            raise LoadFailedError(
                f"{name} cannot be loaded: {failed['message']}", failed["hint"] or _OPTIONS_HINT
            )
        return found


def options_of(url: str, urls: Iterable[str], options: Sequence[str]) -> tuple[str, ...]:
    """Those of one address: clear text beside TLS gets none that is for TLS alone."""
    if "--starttls" in options or _is_tls(url) or not any(map(_is_tls, urls)):
        return tuple(options)
    kept, skipped = [], 0
    for given in options:
        option, separator, _ = given.partition("=")
        if skipped:
            skipped -= 1
        elif option in _FOR_TLS:
            skipped = 0 if separator else _FOR_TLS[option]
        else:
            kept.append(given)
    return tuple(kept)


def _is_tls(url: str) -> bool:
    return urlsplit(url).scheme in _TLS_SCHEMES


def _by_kind(errors: Mapping[str, Mapping[str, int]]) -> dict[str, int]:
    """By phase and kind."""
    return {
        f"{phase} {kind}": count for phase, kinds in errors.items() for kind, count in kinds.items()
    }


def _in_words(failures: Mapping[str, int]) -> str:
    """``bad status 5xx in phase ttfb: 1,152``."""
    parts = [(key.replace("_", " ").partition(" "), n) for key, n in failures.items()]
    return ", ".join(f"{kind} in phase {phase}: {n:,}" for (phase, _, kind), n in parts)


def _visit(name: str, found: Mapping[str, Any], empty_windows: int) -> TimedVisit:
    latency = found["latency_ns"]["response"]
    values = {
        THROUGHPUT.name: found["rates"]["ok_per_s"],
        MEDIAN.name: latency["p50"],
        TAIL.name: latency["p99"],
    }
    measured = {key: value for key, value in values.items() if value}
    counts = found["counts"]
    return TimedVisit(
        name,
        measured,
        empty_windows=empty_windows,
        operations=counts["ok"] + counts["errors"],
        failures=_by_kind(found["errors"]),
        failed_connections=sum(_by_kind(found["connection_errors"]).values()),
    )
