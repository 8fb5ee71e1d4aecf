"""Which attempt decides a cell, how tools are read, and what the page says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from bench.truth import page
from bench.truth.experiments import decided
from bench.truth.judge import Judgement
from bench.truth.noise import Noise
from bench.truth.peers import Ab, H2load, Hey, Wrk
from bench.truth.tools import Load, step_of, time_ns

QUIET = Noise(0.0, 0.01, 0.0)
LOUD = Noise(0.0, 0.4, None)


def judged(miss: float | None) -> Judgement:
    return Judgement(miss)


def test_a_quiet_attempt_decides_alone() -> None:
    attempts = [(judged(0.5), LOUD), (judged(0.5), LOUD), (judged(3.0), QUIET)]
    assert decided("wrk", "delay", attempts).state == "failed"


def test_the_median_decides_when_no_attempt_was_quiet() -> None:
    attempts = [(judged(0.5), LOUD), (judged(9.0), LOUD), (judged(0.9), LOUD)]
    assert decided("wrk", "delay", attempts).state == "passed"


def test_noise_is_reported_instead_of_a_failure() -> None:
    attempts = [(judged(2.0), LOUD), (judged(9.0), LOUD), (judged(0.9), LOUD)]
    cell = decided("wrk", "delay", attempts)
    assert cell.state == "too noisy"
    assert cell.noise == ("other processes 40.0%",)


def test_noise_excuses_no_arithmetic() -> None:
    assert decided("wrk", "log", [(judged(99.0), LOUD)]).state == "failed"


def test_what_cannot_be_judged_says_so() -> None:
    assert decided("hey", "delay", [(judged(None), QUIET)]).state == "cannot"


def test_printed_times_have_a_value_and_a_step() -> None:
    assert time_ns("5.08ms") == pytest.approx(5.08e6)
    assert step_of("5.08ms") == pytest.approx(1e4)
    assert step_of("47us") == pytest.approx(1e3)
    assert step_of("1.00s") == pytest.approx(1e7)


def load(folder: Path, **more: Any) -> Load:
    return Load("127.0.0.1:1", 5, 10, folder, **more)


def test_wrk_is_read(tmp_path: Path) -> None:
    output = """
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency    21.30ms    7.93ms  40.05ms   72.04%
    Req/Sec   184.55     56.88   282.00     55.00%
  Latency Distribution
     50%   19.88ms
     75%   24.07ms
     90%   35.98ms
     99%   40.02ms
  372 requests in 2.03s, 36.69KB read
Requests/sec:    183.66
"""
    report = Wrk().report(output, load(tmp_path))
    assert (report.count, report.per_s) == (372, 183.66)
    assert report.mean_ns == pytest.approx(21.3e6)
    assert report.p99_ns == pytest.approx(40.02e6)
    assert report.max_ns == pytest.approx(40.05e6)


def test_h2load_is_read_with_percentiles_of_its_log(tmp_path: Path) -> None:
    output = """
finished in 2.00s, 198.00 req/s, 19.53KB/s
requests: 396 total, 404 started, 396 done, 396 succeeded, 0 failed, 0 errored, 0 timeout
time for request:     5.13ms     47.36ms     15.94ms      6.20ms    78.03%
"""
    rows = "".join(f"1795271353315367\t200\t{us}\n" for us in range(1, 102))
    (tmp_path / "log").write_text(rows + "1\t-1\t9999999\n", encoding="ascii")
    report = H2load().report(output, load(tmp_path))
    assert (report.count, report.per_s) == (396, 198.0)
    assert report.p50_ns == pytest.approx(51_000)
    assert report.max_ns == pytest.approx(47.36e6)


def test_ab_is_read_by_its_fine_percentiles(tmp_path: Path) -> None:
    rows = "".join(f"{q},{5 + q / 1000:.3f}\n" for q in range(100))
    header = "Percentage served,Time in ms\n"
    (tmp_path / "percentiles").write_text(header + rows, encoding="ascii")
    output = """
Complete requests:      1000
Requests per second:    222.68 [#/sec] (mean)
  50%     16
  90%     28
  95%     32
  99%     36
 100%     67 (longest request)
"""
    report = Ab().report(output, load(tmp_path))
    assert report.p50_ns == pytest.approx(5.05e6)
    assert report.max_ns == pytest.approx(67e6)
    assert Ab().report(output, load(tmp_path, log=True)).p50_ns == pytest.approx(16e6)


@pytest.mark.parametrize("percent", ["%", "%%"])
def test_hey_is_read_in_both_its_spellings(tmp_path: Path, percent: str) -> None:
    output = f"""
  Slowest:\t0.0098 secs
  Average:\t0.0017 secs
  Requests/sec:\t998.6163
  50{percent} in 0.0013 secs
  90{percent} in 0.0030 secs
  95{percent} in 0.0040 secs
  99{percent} in 0.0060 secs
Status code distribution:
  [200]\t6000 responses
"""
    report = Hey().report(output, load(tmp_path))
    assert report.count == 6000
    assert report.p90_ns == pytest.approx(3e6)


def document() -> dict[str, Any]:
    figures = {"users": 32, "product": 31.95, "per_s": 6000.0, "mean_ns": 5.3e6}
    cell = {"tool": "wrk", "test": "little", "figures": figures, "note": "", "noise": []}
    return {
        "made": "2026-01-01",
        "machine": {"kernel": "6", "cores": 2, "cpu": "a CPU"},
        "tools": {"wrk": "wrk 4", "hey": None},
        "not_run": {"oha": "oha: no adapter"},
        "cells": [{**cell, "state": "failed"}],
    }


def test_the_page_keeps_what_stands_around_the_block(tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    path.write_text(f"before\n{page.BEGIN}\nold\n{page.END}\nafter\n", encoding="utf-8")
    page.write(path, document(), "run.json")
    text = path.read_text(encoding="utf-8")
    assert text.startswith("before\n")
    assert text.endswith("\nafter\n")
    assert "old" not in text
    assert "| 4 Little's law | **failed** | not run |" in text
    assert "32 users, product 31.95" in text
    assert "hey is not installed" in text


def test_a_page_without_marks_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    path.write_text("before\n", encoding="utf-8")
    with pytest.raises(ValueError, match="lacks the marks"):
        page.write(path, document(), "run.json")
    assert path.read_text(encoding="utf-8") == "before\n"
