"""The tests themselves: start server and tool, let something happen, judge what is reported."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from bench.truth import criteria, judge, noise, sink
from bench.truth.judge import Judgement, Report
from bench.truth.tools import Load, Tool

LONGEST_S = 60


@dataclass
class Run:
    """One finished run of a tool."""

    report: Report
    server: sink.Sink
    noise: noise.Noise
    load: Load
    stop_ns: float = 0.0

    @property
    def window_ns(self) -> float:
        return self.load.seconds * 1e9


@dataclass(frozen=True)
class Cell:
    """What stands in the table for one tool and one test."""

    tool: str
    test: str
    state: str
    figures: dict[str, Any] = field(default_factory=dict)
    note: str = ""
    command: str = ""
    attempts: int = 0
    noise: tuple[str, ...] = ()


Stop = tuple[str, float]
"""Who is stopped (server, generator), and for how many seconds."""


@contextmanager
def run(
    tool: Tool,
    *,
    seconds: int,
    connections: int,
    server: tuple[str, ...] = (),
    stop: Stop | None = None,
    rate: int | None = None,
    poisson: bool = False,
    threads: int = 1,
    log: bool = False,
) -> Iterator[Run]:
    """Runs the tool on core 0 against a server on core 1; its files last as long as the block."""
    with (
        tempfile.TemporaryDirectory(prefix="truth-") as name,
        sink.running(Path(name), *server) as target,
    ):
        load = Load(
            target.address,
            seconds,
            connections,
            Path(name),
            rate=rate,
            poisson=poisson,
            threads=threads,
            log=log,
        )
        before, sink_before = noise.ticks(), noise.cpu_s(target.pid)
        output, own_s, stop_ns, wall_ns = driven(tool.command(load), target.pid, load, stop)
        own_s += noise.cpu_s(target.pid) - sink_before
        after = noise.ticks()
        target.end()
        lost = target.told["lost_ns"] / wall_ns if "-s" in server else None
        quiet = noise.between(before, after, own_s, lost)
        yield Run(tool.report(output, load), target, quiet, load, stop_ns)


def driven(
    command: list[str], server: int, load: Load, stop: Stop | None
) -> tuple[str, float, float, float]:
    """Output, CPU seconds, the stop as it was and the whole time, both in ns."""
    out = load.folder / "output"
    start = time.monotonic_ns()
    with out.open("w") as place:
        process = subprocess.Popen(
            sink.pinned(command, 0), stdout=place, stderr=subprocess.DEVNULL, text=True
        )
    stop_ns = 0.0
    try:
        if stop is not None:
            time.sleep(load.seconds * 0.4)
            stop_ns = stopped(server if stop[0] == "server" else process.pid, stop[1])
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    finally:
        if process.returncode is None:
            process.kill()
            process.wait()
    output = out.read_text(encoding="utf-8", errors="replace")
    assert process.returncode == 0, f"{command} ended with {process.returncode}: {output}"
    spent = usage.ru_utime + usage.ru_stime
    return output, spent, stop_ns, float(time.monotonic_ns() - start)


def stopped(pid: int, seconds: float) -> float:
    """Lets a process stand still; for how many ns it really did."""
    os.kill(pid, signal.SIGSTOP)
    start = time.monotonic_ns()
    time.sleep(seconds)
    end = time.monotonic_ns()
    os.kill(pid, signal.SIGCONT)
    return float(end - start)


Attempt = tuple[Judgement, noise.Noise]


def server_stop(tool: Tool) -> Attempt:
    rate = criteria.STOP_RATE if "rate" in tool.can else None
    with run(
        tool,
        seconds=criteria.STOP_S,
        connections=criteria.CONNECTIONS,
        rate=rate,
        stop=("server", criteria.SERVER_STOP_S),
    ) as done:
        judged = judge.server_stop(done.report, done.stop_ns, done.window_ns)
        if rate is None:
            judged = Judgement(None, judged.figures, f"{tool.cannot['rate']}; this is what it said")
        return judged, done.noise


def generator_stop(tool: Tool) -> Attempt:
    rate = criteria.GENERATOR_STOP_RATE if "rate" in tool.can else None
    with run(
        tool,
        seconds=criteria.STOP_S,
        connections=criteria.CONNECTIONS,
        rate=rate,
        stop=("generator", criteria.GENERATOR_STOP_S),
    ) as done:
        judged = judge.generator_stop(
            done.report, done.stop_ns, done.window_ns, rate=rate is not None
        )
        return judged, done.noise


def delay(tool: Tool) -> Attempt:
    words = ("-s", "-d", str(criteria.DELAY_NS))
    with run(tool, seconds=criteria.DELAY_S, connections=1, server=words) as done:
        return judge.delay(done.report, done.server.delays_ns()), done.noise


def little(tool: Tool) -> Attempt:
    words = ("-s", "-d", str(criteria.LITTLE_DELAY_NS))
    users = criteria.LITTLE_USERS
    with run(tool, seconds=criteria.LITTLE_S, connections=users, server=words) as done:
        return judge.little(done.report, users), done.noise


def constant(rate: int) -> Callable[[Tool], Attempt]:
    """The test of constant gaps at this rate."""

    def attempt(tool: Tool) -> Attempt:
        with run(
            tool,
            seconds=criteria.ARRIVAL_S,
            connections=criteria.CONNECTIONS,
            rate=rate,
            server=("-s",),
        ) as done:
            return judge.constant_gaps(done.server.arrivals_ns(), rate), done.noise

    return attempt


def poisson(tool: Tool) -> Attempt:
    with run(
        tool,
        seconds=criteria.POISSON_S,
        connections=criteria.CONNECTIONS,
        rate=criteria.POISSON_RATE,
        poisson=True,
        server=("-s",),
    ) as done:
        return judge.poisson_gaps(done.server.arrivals_ns(), criteria.POISSON_RATE), done.noise


def log(tool: Tool) -> Attempt:
    with run(
        tool,
        seconds=criteria.LOG_S,
        connections=criteria.LOG_USERS,
        threads=criteria.LOG_THREADS,
        log=True,
    ) as done:
        judged = judge.against_log(done.report, tool.samples_ns(done.load))
        return Judgement(judged.miss, judged.figures, done.report.source), done.noise


EXPERIMENTS: dict[str, tuple[str, Callable[[Tool], Attempt]]] = {
    "server-stop": ("closed", server_stop),
    "generator-stop": ("closed", generator_stop),
    "delay": ("closed", delay),
    "little": ("closed", little),
    "constant-1k": ("rate", constant(criteria.ARRIVAL_RATES[0])),
    "constant-10k": ("rate", constant(criteria.ARRIVAL_RATES[1])),
    "poisson": ("poisson", poisson),
    "log": ("log", log),
}
"""What a tool must be able to do for a test, and the test."""


NOISE_EXCUSES_NOTHING = frozenset(("log",))
"""Tests whose outcome is arithmetic: a tool must add up right on any machine."""


def cell(tool: Tool, test: str) -> Cell:
    """Runs a test until a quiet attempt, three times at most, and judges by the median."""
    needed, experiment = EXPERIMENTS[test]
    if not tool.installed():
        return Cell(tool.name, test, "not run", note=f"{tool.name} is not installed")
    if needed not in tool.can:
        return Cell(tool.name, test, "cannot", note=tool.cannot[needed])
    attempts: list[Attempt] = []
    while len(attempts) < criteria.MOST_ATTEMPTS:
        attempts.append(experiment(tool))
        if settled(test, *attempts[-1]):
            break
    return decided(tool.name, test, attempts)


def settled(test: str, judged: Judgement, quiet: noise.Noise) -> bool:
    """Whether this attempt needs no other beside it."""
    return judged.miss is None or not quiet.reasons or test in NOISE_EXCUSES_NOTHING


def decided(tool: str, test: str, attempts: list[Attempt]) -> Cell:
    """A quiet attempt decides alone; otherwise the median, and noise excuses a failure."""
    last, quiet = attempts[-1]
    if not settled(test, last, quiet):
        ranked = sorted(attempts, key=lambda a: a[0].miss if a[0].miss is not None else 0.0)
        last, quiet = ranked[len(ranked) // 2]
    if last.miss is None:
        state = "cannot"
    elif last.passed:
        state = "passed"
    else:
        excused = quiet.reasons and test not in NOISE_EXCUSES_NOTHING
        state = "too noisy" if excused else "failed"
    figures = {**last.figures, "miss": last.miss, "noise": asdict(quiet)}
    return Cell(
        tool, test, state, figures, last.note, attempts=len(attempts), noise=tuple(quiet.reasons)
    )
