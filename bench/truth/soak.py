"""The long run: memory of the generator each second, throughput as the server counts it."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from dataclasses import asdict
from pathlib import Path

from bench.truth import criteria, judge, noise, sink
from bench.truth.experiments import Cell
from bench.truth.tools import Load, Tool

SETTLE_S = 30
"""Left out at the start: pools and histograms fill, which is no leak."""


def soak(tool: Tool, minutes: float) -> Cell:
    """One closed run of so many minutes."""
    seconds = int(minutes * 60)
    with tempfile.TemporaryDirectory(prefix="truth-") as name:
        folder = Path(name)
        with sink.running(folder, "-c") as server:
            load = Load(server.address, seconds, criteria.LOG_USERS, folder)
            before, sink_before = noise.ticks(), noise.cpu_s(server.pid)
            rss, own_s = watched(tool.command(load))
            own_s += noise.cpu_s(server.pid) - sink_before
            quiet = noise.between(before, noise.ticks(), own_s, None)
            server.end()
            per_s = server.counts()[:-1]
    judged = judge.soak(settled(rss, seconds), settled([float(n) for n in per_s], seconds))
    figures = {**judged.figures, "noise": asdict(quiet), "minutes": minutes}
    return Cell(
        tool.name,
        "soak",
        state(judged, quiet),
        figures,
        judged.note,
        attempts=1,
        noise=tuple(quiet.reasons),
    )


def settled(values: list[float], seconds: int) -> list[float]:
    """Without the start: half a minute, or a tenth of a shorter run."""
    return values[min(SETTLE_S, seconds // 10) :]


def state(judged: judge.Judgement, quiet: noise.Noise) -> str:
    """Undecided intervals and noisy failures are both the machine's."""
    if judged.passed:
        return "passed"
    return "too noisy" if judged.miss is None or quiet.reasons else "failed"


def watched(command: list[str]) -> tuple[list[float], float]:
    """Resident bytes of the tool each second, and the CPU seconds it used."""
    process = subprocess.Popen(
        sink.pinned(command, 0), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    samples: list[float] = []
    page = os.sysconf("SC_PAGE_SIZE")
    statm = Path(f"/proc/{process.pid}/statm")
    try:
        while True:
            time.sleep(1)
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid != 0:
                break
            resident = int(statm.read_text(encoding="ascii").split()[1])
            if resident > 0:  # 0: it is about to be gone
                samples.append(float(resident * page))
        process.returncode = os.waitstatus_to_exitcode(status)
    finally:
        if process.returncode is None:
            process.kill()
            process.wait()
    assert process.returncode == 0, f"{command} ended with {process.returncode}"
    return samples, usage.ru_utime + usage.ru_stime
