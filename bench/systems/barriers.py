"""How far apart several instances really begin, by figure: what `start_spread_ns` says.

A real session in a folder of its own: containers or guests in the run's network, loads that begin
on one barrier. The spread is that of the instants at which each load really sent its first
operation, by the controller's clock; where an instance planned to begin is no measurement.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from string import Template

from steelyard.hosts.failures import SystemFailure

LEAST_TRIALS = 6
LONGEST_S = 900
STUDY = Template("""\
study: barrier
question: How far apart do the windows of $instances instances begin?
systems:
  one:   {platform: $platform, instances: $instances, service: {use: sink-http}}
  other: {platform: $platform, instances: $instances, service: {use: sink-http}}
workload: {use: http}
load: {users: [1]}
responses: {throughput: {primary: true}}
generator: {calibrate: false}
trials: {margin: 5 %, window: 300 ms, warmup: 50 ms, budget: {trials: $trials per cell}}
""")


@dataclass(frozen=True)
class Barrier:
    """One row: so many instances on this machine, started together."""

    name: str
    instances: int
    platform: str = "podman"
    goal_s: float = 0.005


GUEST = "qemu, accel: tcg, memory: 256 MiB"
BARRIERS = (
    Barrier("barrier-2", 2),
    Barrier("barrier-3", 3),
    Barrier("barrier-guests-2", 2, GUEST),
    Barrier("barrier-guests-3", 3, GUEST),
)


def spreads_s(barrier: Barrier, repetitions: int, folder: Path) -> list[float]:
    """Seconds between the first and the last start, of every trial that went well.

    Raises:
        SystemFailure: ``tool_failed``: the session gave none.
    """
    trials = max(LEAST_TRIALS, repetitions // 2)
    study = STUDY.substitute(instances=barrier.instances, platform=barrier.platform, trials=trials)
    (folder / "study.yaml").write_text(study, encoding="utf-8")
    command = [sys.executable, "-m", "steelyard", "run", "study.yaml"]
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, timeout=LONGEST_S
    )
    found = (json.loads(path.read_text("utf-8")) for path in folder.glob("results/**/record.json"))
    told = [record["start_spread_ns"] for record in found if record["outcome"] == "ok"]
    spreads = [spread_ns / 1e9 for spread_ns in told if spread_ns is not None]
    if not spreads:
        raise SystemFailure("tool_failed", f"no trial went well: {done.stderr[-500:]}")
    return spreads
