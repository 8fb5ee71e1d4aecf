"""One load from 1 to 4 generators, each in a network namespace of its own, in random order.

Open: each is asked for the same rate, below what the machine holds. The judge says whether the
rate of each is the same with several as with one, within 5 %, and what all received is held
against what the server counted. Closed: each has the same users, as fast as answers come, which
shows what this machine holds. A benchmark, not a test; needs root and `ip`.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from steelyard.engine.agent import Agent
from steelyard.engine.locate import find_engine
from steelyard.engine.messages import LoadResult
from steelyard.engine.patience import Patience
from steelyard.hosts.clocks import ClockOffset
from steelyard.hosts.host import Host
from steelyard.hosts.transport import here, open_local_pipe
from steelyard.judge import judge_trials
from steelyard.trial.drive.generators import Generator, SharedLoad, merged

NAME = "steelyard-bench"
HUB = "10.213.8.254"
MOST = 4
MARGIN = 0.05
CONNECTIONS, USERS = 16, 8
_AHEAD_NS = 300_000_000
_SPARE_S = 30


@dataclass(frozen=True)
class Bench:
    """A generator in each namespace, and a server where they meet."""

    local: Host
    generators: Sequence[Host]
    address: str

    def run(self, count: int, mode: dict[str, object], window_s: float) -> LoadResult:
        """One run of the first ``count`` generators together."""
        job = {
            "target": f"http://{self.address}/",
            "mode": mode,
            "operation": {"protocol": "http"},
            "warmup_ns": 300_000_000,
            "duration_ns": round(window_s * 1e9),
            "seed": random.getrandbits(32),
        }
        clock = ClockOffset(0, 0, time.monotonic_ns())
        generators = [
            Generator(number, host.name, host, clock, job)
            for number, host in enumerate(self.generators[:count], start=1)
        ]
        load = SharedLoad(generators)
        load.begin(time.monotonic_ns() + _AHEAD_NS)
        answers = load.finish(time.monotonic_ns() + round((window_s + _SPARE_S) * 1e9))
        return merged(self.local, generators, answers).result


def main() -> int:
    """``python -m bench.generators``."""
    options = arguments()
    print(f"{os.cpu_count()} processors, load {os.getloadavg()}, seed {options.seed}")
    random.seed(options.seed)
    with spread() as (bench, sink):
        visits = in_order(options.blocks)
        rate = options.rate
        opened = [(n, bench.run(n, open_mode(n, rate), options.window)) for n in visits]
        closed = [(n, bench.run(n, closed_mode(n), options.window)) for n in visits]
        received = sum(result.counts.ok + result.counts.warmup for _, result in opened + closed)
        counted = ended(sink)
    show_open(opened, rate)
    show_closed(closed)
    print(f"answers received {received:,}, answers that the server counted {counted:,}")
    return 0


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.generators", description=__doc__)
    parser.add_argument("--blocks", type=int, default=16, help="each holds every number once")
    parser.add_argument("--rate", type=float, default=1500, help="of each generator, a second")
    parser.add_argument("--window", type=float, default=1.0, help="seconds of each run")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def in_order(blocks: int) -> list[int]:
    """Every number of generators once in each block, in random order."""
    return [n for _ in range(blocks) for n in random.sample(range(1, MOST + 1), MOST)]


def open_mode(count: int, rate: float) -> dict[str, object]:
    return {
        "kind": "open",
        "rate_per_s": rate * count,
        "arrival": "constant",
        "connections": CONNECTIONS * count,
    }


def closed_mode(count: int) -> dict[str, object]:
    return {"kind": "closed", "users": USERS * count}


def show_open(runs: Sequence[tuple[int, LoadResult]], rate: float) -> None:
    """The rate of each generator with several, as a share of that of one, by the judge."""
    verdicts = judge_trials(
        [str(n) for n, _ in runs],
        [result.rates.ok_per_s / n for n, result in runs],
        baseline="1",
        margin=MARGIN,
        design="blocks",
        direction="higher",
        budget=len(runs),
    )
    print(f"open, {rate:g}/s asked of each:")
    for n in range(1, MOST + 1):
        rates = [result.rates.ok_per_s for count, result in runs if count == n]
        line = f"  {n}: {spread_of(rates)}/s, p99 {p99_of([r for c, r in runs if c == n])}"
        if n > 1:
            told = verdicts.of(str(n))
            logs = (told.estimate_log, told.low_log, told.high_log)
            ratio, low, high = ("?" if x is None else f"{math.exp(x):.4f}" for x in logs)
            line += f"; rate / ({n} x rate of 1) {ratio} ({low} to {high}): {told.word}"
        print(line)


def p99_of(results: Sequence[LoadResult]) -> str:
    """The median over runs; a run of fewer than 1,000 answers has none."""
    known = [p99 for each in results if (p99 := each.latency_ns["response"].p99) is not None]
    return f"{statistics.median(known) / 1e3:,.0f} us" if known else "of too few answers"


def show_closed(runs: Sequence[tuple[int, LoadResult]]) -> None:
    print(f"closed, {USERS} users of each, as fast as answers come: what this machine holds")
    for n in range(1, MOST + 1):
        rates = [result.rates.ok_per_s for count, result in runs if count == n]
        print(f"  {n}: {spread_of(rates)}/s")


def spread_of(values: Sequence[float]) -> str:
    return f"{statistics.median(values):,.0f} ({min(values):,.0f} to {max(values):,.0f})"


def ended(sink: subprocess.Popen[str]) -> int:
    """Good answers as the server counted them."""
    sink.terminate()
    said, _ = sink.communicate(timeout=60)
    return int(json.loads(said.strip().splitlines()[-1])["ok"])


@contextmanager
def spread() -> Iterator[tuple[Bench, subprocess.Popen[str]]]:
    """Namespaces on one bridge, an agent in each, and the server at the hub."""
    if os.geteuid() != 0:
        sys.exit("needs root, for network namespaces")
    with ExitStack() as stack:
        hub = namespace(stack, "hub")
        ip("-n", hub, "link", "add", "lab", "type", "bridge")
        ip("-n", hub, "addr", "add", f"{HUB}/24", "dev", "lab")
        ip("-n", hub, "link", "set", "lab", "up")
        engine = str(find_engine())
        argv = [*within(hub), engine, "sink", "http", "--listen", f"{HUB}:0", "--threads", "1"]
        sink = stack.enter_context(subprocess.Popen(argv, stdout=subprocess.PIPE, text=True))
        stack.callback(sink.kill)
        assert sink.stdout is not None
        address = json.loads(sink.stdout.readline())["listening"]
        generators = []
        for place in range(1, MOST + 1):
            own = joined(stack, hub, place)
            agent = Agent([*within(own), engine, "agent"], Patience())
            generators.append(Host(own, agent, here, engine))
            stack.callback(generators[-1].close)
        local = Host("local", open_local_pipe(), here, engine)
        stack.callback(local.close)
        yield Bench(local, generators, address), sink


def namespace(stack: ExitStack, place: str) -> str:
    name = f"{NAME}-{place}"
    ip("netns", "add", name)
    stack.callback(ip, "netns", "delete", name)
    ip("-n", name, "link", "set", "lo", "up")
    return name


def joined(stack: ExitStack, hub: str, place: int) -> str:
    """A namespace with a cable to the bridge."""
    own = namespace(stack, f"g{place}")
    cable = ("type", "veth", "peer", "name", "eth0", "netns", own)
    ip("-n", hub, "link", "add", f"g{place}", *cable)
    ip("-n", hub, "link", "set", f"g{place}", "master", "lab", "up")
    ip("-n", own, "addr", "add", HUB.replace("254", str(place)) + "/24", "dev", "eth0")
    ip("-n", own, "link", "set", "eth0", "up")
    return own


def within(name: str) -> list[str]:
    return ["ip", "netns", "exec", name]


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True, timeout=60)


if __name__ == "__main__":
    sys.exit(main())
