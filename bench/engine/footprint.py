"""What the engine needs when it holds many connections, waits, or samples."""

from __future__ import annotations

import json
import os
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

from bench.engine.contest import Goal, Probe
from bench.engine.process import CLIENT_CORE, FILES, Unmeasurable, pinned, reaped, start, status_of
from bench.engine.steelyard import engine, sink

FEW, MANY = 100, 15_000
SETTLE_S = 1.0
SAMPLED_S = 30


def probes() -> list[Probe]:
    """Every figure of the engine alone."""
    return [
        Probe(
            "memory",
            f"resident memory of the client at {MANY} HTTP connections less that at {FEW}",
            (),
            memory,
            (Goal("bytes_a_connection", "bytes/connection", 4096, at_most=True),),
        ),
        Probe(
            "agent-idle",
            "an agent that no one asks for anything",
            (),
            idle_agent,
            (
                Goal("wake_ups_per_s", "wake-ups/s", 0, at_most=True),
                Goal("resident_mb", "MB resident", 6, at_most=True),
            ),
        ),
        Probe(
            "sampler",
            "every counter of the machine, its disk and a process once a second, once it runs",
            (),
            sampler,
            (Goal("core_percent", "% of a core", 0.2, at_most=True),),
        ),
    ]


def memory(seconds: int) -> dict[str, float]:
    """Bytes that each further connection takes."""
    if FILES < MANY + 100:
        raise Unmeasurable(f"only {FILES} descriptors are allowed here (ulimit -n)")
    with sink("http") as address:
        few, many = (resident(address, count, seconds) for count in (FEW, MANY))
    added = many["resident_bytes"] - few["resident_bytes"]
    return {
        "bytes_a_connection": added / (many["connections"] - few["connections"]),
        "connections": many["connections"],
    }


def resident(address: str, connections: int, seconds: int) -> dict[str, float]:
    """Most memory that was resident while this many users thought for a second between requests."""
    options = ["-c", str(connections), "--think", "1s", "--timeout", "30s", "--json"]
    command = [engine(), "load", f"http://{address}/", "--warmup", "3s", *options]
    process = start([*command, "-d", f"{seconds}s"], CLIENT_CORE)
    assert process.stdout is not None
    said: list[str] = []
    reader = threading.Thread(target=lambda: said.append(process.stdout.read()))  # type: ignore[union-attr]
    reader.start()
    most = 0
    while process.poll() is None:
        most = max(most, resident_now(process.pid))
        time.sleep(0.1)
    reader.join()
    process.stdout.close()
    achieved = json.loads(said[0])["load"]["connections_achieved"]
    if achieved < connections:
        raise Unmeasurable(f"only {achieved} of {connections} connections were established")
    return {"resident_bytes": most, "connections": achieved}


def resident_now(pid: int) -> int:
    """Bytes; 0 for a process that is just ending."""
    try:
        return 1024 * status_of(pid, "VmRSS")
    except (OSError, Unmeasurable):
        return 0


def idle_agent(seconds: int) -> dict[str, float]:
    """Voluntary switches of all its threads, and its memory."""
    command = pinned([engine(), "agent"], CLIENT_CORE)
    agent = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    assert agent.stdin is not None
    try:
        time.sleep(SETTLE_S)
        before = wake_ups(agent.pid)
        time.sleep(2 * seconds)
        woken = wake_ups(agent.pid) - before
        size = status_of(agent.pid, "VmRSS") * 1024 / 1e6
    finally:
        agent.stdin.close()
        agent.wait()
    return {"wake_ups_per_s": woken / (2 * seconds), "resident_mb": size}


def wake_ups(pid: int) -> int:
    threads = Path(f"/proc/{pid}/task").iterdir()
    return sum(status_of(int(thread.name), "voluntary_ctxt_switches") for thread in threads)


def sampler(seconds: int) -> dict[str, float]:
    """CPU of all its threads between two readings, the first after its start."""
    watched_s = max(SAMPLED_S, 6 * seconds)
    duration_s = watched_s + 2 * SETTLE_S + 1
    followed = ("--disk", "root=/", "--process", f"bench={os.getpid()}")
    command = [engine(), "sample", "--interval", "1s", "--duration", f"{duration_s:g}s", *followed]
    process = start([*command, "--json"], CLIENT_CORE)
    assert process.stdout is not None
    time.sleep(SETTLE_S)
    begun, before_ns = time.monotonic(), spent_ns(process.pid)
    time.sleep(watched_s)
    spent_s = (spent_ns(process.pid) - before_ns) / 1e9
    wall_s = time.monotonic() - begun
    samples: dict[str, Any] = json.loads(process.stdout.read())
    reaped(process)
    rows = len(samples["monotonic_ns"])
    if rows < watched_s:
        raise Unmeasurable(f"{rows} rows in {duration_s} s")
    columns = len(samples["columns"])
    return {"core_percent": 100 * spent_s / wall_s, "rows": rows, "columns": columns}


def spent_ns(pid: int) -> int:
    """CPU time that the kernel's scheduler charged to all threads of a process."""
    threads = Path(f"/proc/{pid}/task").iterdir()
    return sum(int((thread / "schedstat").read_text().split()[0]) for thread in threads)
