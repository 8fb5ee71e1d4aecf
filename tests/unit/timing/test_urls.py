"""What a visit of a server does with windows in which nothing ended."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from steelyard.records.results.timing import TimedVisit, Timing
from steelyard.report.formats.timing import json_export
from steelyard.report.sentences.terminal.timing import window_lines
from steelyard.timing.urls import THROUGHPUT, LoadFailedError, Urls, options_of


def window(ok: int, **errors: int) -> dict[str, Any]:
    return {
        "counts": {"ok_in_window": ok, "ok": ok, "errors": sum(errors.values())},
        "rates": {"ok_per_s": 5.0 * ok},
        "latency_ns": {"response": {"p50": 1e6, "p99": 2e6}},
        "errors": {"ttfb": errors} if errors else {},
        "connection_errors": {},
    }


def urls(monkeypatch: pytest.MonkeyPatch, *windows: dict[str, Any]) -> tuple[Urls, Iterator[Any]]:
    waiting = iter(windows)
    monkeypatch.setattr(Urls, "_load", lambda _self, _name: next(waiting))
    return Urls(Path("engine"), {"a": "http://a/"}, [], 0.2), waiting


def test_windows_without_an_answer_are_repeated_and_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found, _ = urls(monkeypatch, window(0), window(0), window(40))
    visit = found.visit("a")
    assert visit.empty_windows == 2
    assert visit.values[THROUGHPUT.name] == 200


def test_operations_that_fail_are_not_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    found, waiting = urls(monkeypatch, window(0, refused=3), window(40))
    with pytest.raises(LoadFailedError, match=r"succeeded \(refused in phase ttfb: 3\)"):
        found.visit("a")
    assert next(waiting)["counts"]["ok_in_window"] == 40


FAILED = '{"failed": {"kind": "system", "message": "no answer", "hint": HINT}}'


@pytest.mark.parametrize(
    ("stdout", "stderr", "message", "hint"),
    [
        (FAILED.replace("HINT", '"is it running?"'), "error: no answer", "loaded: no", "running?"),
        (FAILED.replace("HINT", "null"), "error: no answer", "loaded: no answer", "after `--`"),
        ("", "error: unexpected argument '--nope' found", "unexpected", "after `--`"),
        ("", "", "exit code 3", "after `--`"),
    ],
)
def test_what_the_engine_says_is_said_once(
    tmp_path: Path, stdout: str, stderr: str, message: str, hint: str
) -> None:
    engine = tmp_path / "engine"
    engine.write_text(
        f"#!/bin/sh\ncat <<'END'\n{stdout}\nEND\ncat >&2 <<'END'\n{stderr}\nEND\nexit 3\n"
    )
    engine.chmod(0o755)
    with pytest.raises(LoadFailedError, match=message) as refused:
        Urls(engine, {"a": "http://a/"}, [], 0.2).visit("a")
    assert hint in refused.value.hint


def test_a_window_that_is_too_short_for_any_answer_is_refused_with_its_length(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found, _ = urls(monkeypatch, *[window(0)] * 5)
    with pytest.raises(LoadFailedError, match=r"0\.2 s") as refused:
        found.visit("a")
    assert "--window" in refused.value.hint


def test_empty_windows_are_reported_and_exported() -> None:
    visits = [TimedVisit("a", {"throughput": 5.0}, empty_windows=2)]
    subjects = {"a": "http://a/", "b": "http://b/"}
    timing = Timing(subjects, (THROUGHPUT,), "throughput", 0.05, 1, 8, visits=visits)
    assert [line.count("a ended in 2 windows") for line in window_lines(timing)] == [1]
    assert json_export(timing, None).count('"empty_windows": 2') == 1


def test_a_window_without_the_percentile_that_is_judged_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    short = window(8) | {"latency_ns": {"response": {"p50": 1e6, "p99": None}}}
    monkeypatch.setattr(Urls, "_load", lambda _self, _name: short)
    words: tuple[Any, ...] = (Path("engine"), {"a": "http://a/"}, [], 0.2)
    visit = Urls(*words).visit("a")
    assert visit.values.keys() == {"throughput", "latency_p50"}
    timing = Timing({"a": "http://a/"}, Urls.responses, "throughput", 0.05, 1, 8, visits=[visit])
    (line,) = window_lines(timing)
    assert line.startswith("No window of a held enough operations for the 99th percentile")
    (result,) = json.loads(json_export(timing, None))["results"]
    assert result["latency_p50_ns_median"] == 1e6
    assert result["latency_p99_ns_median"] is None
    with pytest.raises(LoadFailedError, match="8 operations") as refused:
        Urls(*words, "latency_p99").visit("a")
    assert "--window" in refused.value.hint


def test_failures_are_counted_by_phase_and_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    found, _ = urls(monkeypatch, window(40, timeout=3, peer_closed=2), window(10, timeout=1))
    visits = [found.visit("a"), found.visit("a")]
    subjects = {"a": "http://a/", "b": "http://b/"}
    timing = Timing(subjects, (THROUGHPUT,), "throughput", 0.05, 1, 8, visits=visits)
    assert timing.failures("a") == {"ttfb timeout": 4, "ttfb peer_closed": 2}
    assert sum(visit.operations for visit in visits) == 56
    assert [visit.failed_connections for visit in visits] == [0, 0]
    (line,) = window_lines(timing)
    assert "(timeout in phase ttfb: 4, peer closed in phase ttfb: 2)" in line
    assert timing.failures("b") == {}


def test_connections_that_failed_are_no_operations(monkeypatch: pytest.MonkeyPatch) -> None:
    refusing = window(40) | {"connection_errors": {"connect": {"conn_refused": 7}}}
    found, _ = urls(monkeypatch, refusing)
    visit = found.visit("a")
    assert (visit.operations, visit.failures, visit.failed_connections) == (40, {}, 7)


CLEAR, TLS = "http://a/", "https://b/"
OF_TLS = ["-c", "2", "--cacert", "ca.pem", "-k", "--servername=x", "--http2"]


@pytest.mark.parametrize(
    ("url", "urls", "options", "given"),
    [
        (CLEAR, [CLEAR, TLS], OF_TLS, ["-c", "2", "--http2"]),
        (TLS, [CLEAR, TLS], OF_TLS, OF_TLS),
        (CLEAR, [CLEAR, CLEAR], OF_TLS, OF_TLS),
        ("smtp://a", ["smtp://a", "smtps://a"], ["-k", "--starttls"], ["-k", "--starttls"]),
    ],
)
def test_clear_text_beside_tls_gets_no_option_that_it_would_refuse(
    url: str, urls: list[str], options: list[str], given: list[str]
) -> None:
    assert options_of(url, urls, options) == tuple(given)
