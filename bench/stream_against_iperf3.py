"""Bulk TCP and small UDP datagrams against iperf3, interleaved, on the same cores.

Senders are pinned to core 0, receivers to core 1. Pairs in random order. CPU is what the kernel
charged to both processes of a side, start-up included. Datagrams are those that arrived.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import shutil
import statistics
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

RUNS = Path(__file__).parent / "runs"
DATAGRAM_BYTES = 64
PORT = 52017


@dataclass(frozen=True)
class Shot:
    """One run of one tool."""

    tool: str
    bytes_per_s: float
    datagrams_per_s: float
    lost_share: float
    cpu_s_per_gb: float


def main() -> None:
    """Runs the pairs, prints ratios, and writes them to bench/runs/ if asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--seconds", type=int, default=3)
    parser.add_argument("--engine", default=f"{sysconfig.get_path('scripts')}/steelyard-engine")
    parser.add_argument("--no-offload", action="store_true", help="single datagrams")
    parser.add_argument("--store", action="store_true", help="write to bench/runs/")
    options = parser.parse_args()
    if shutil.which("iperf3") is None:
        sys.exit("iperf3 is not installed (Debian: apt install iperf3)")
    document: dict[str, object] = {
        "benchmark": "stream_against_iperf3",
        "kernel": platform.release(),
        "machine": platform.machine(),
        "cores": os.cpu_count(),
        "offload": not options.no_offload,
    }
    for transport in ("tcp", "udp"):
        pairs = [pair(transport, options) for _ in range(options.pairs)]
        lines = summarise(transport, pairs)
        print("\n".join(lines))
        document[transport] = {
            "summary": lines,
            "pairs": [{name: asdict(shot) for name, shot in shots.items()} for shots in pairs],
        }
    if options.store:
        store(document)


def pair(transport: str, options: argparse.Namespace) -> dict[str, Shot]:
    """One shot of each tool, in random order."""
    tools: list[Callable[[str, argparse.Namespace], Shot]] = [shoot_iperf3, shoot_steelyard]
    random.shuffle(tools)
    shots = [tool(transport, options) for tool in tools]
    return {shot.tool: shot for shot in shots}


def shoot_iperf3(transport: str, options: argparse.Namespace) -> Shot:
    """One run of iperf3; figures as its server counted them."""
    server = start(["iperf3", "-s", "-1", "-p", str(PORT)], 1)
    time.sleep(0.3)
    command = ["iperf3", "-c", "127.0.0.1", "-p", str(PORT), "-t", str(options.seconds), "-J"]
    if transport == "udp":
        command += ["-u", "-b", "0", "-l", str(DATAGRAM_BYTES)]
    output, client_s = finish(start(command, 0))
    _, server_s = finish(server)
    end = json.loads(output)["end"]
    if transport == "tcp":
        received = end["sum_received"]
        moved = received["bytes"]
        per_s, datagrams, lost = received["bits_per_second"] / 8, 0.0, 0.0
    else:
        total = end["sum"]
        arrived = total["packets"] - total["lost_packets"]
        datagrams, lost = arrived / total["seconds"], total["lost_packets"] / total["packets"]
        moved, per_s = arrived * DATAGRAM_BYTES, datagrams * DATAGRAM_BYTES
    return Shot("iperf3", per_s, datagrams, lost, (client_s + server_s) * 1e9 / moved)


def shoot_steelyard(transport: str, options: argparse.Namespace) -> Shot:
    """One run of the engine; figures as its sink counted them."""
    server = start([options.engine, "sink", "stream", "--listen", "127.0.0.1:0"], 1)
    assert server.stdout is not None
    address = json.loads(server.stdout.readline())["listening"]
    url = f"stream+{transport}://{address}"
    command = [options.engine, "load", url, "-d", f"{options.seconds}s", "--json"]
    if transport == "udp":
        command += ["--block", str(DATAGRAM_BYTES)]
        command += ["--no-offload"] if options.no_offload else []
    output, client_s = finish(start(command, 0))
    server.terminate()
    _, server_s = finish(server)
    stream = json.loads(output)["stream"]
    flow = stream["flows"][0]
    sent = flow["datagrams_sent"] or 1
    return Shot(
        "steelyard",
        stream["sent_bytes_per_s"],
        stream["sent_datagrams_per_s"] or 0.0,
        (flow["datagrams_lost"] or 0) / sent,
        (client_s + server_s) * 1e9 / flow["received_bytes"],
    )


def start(command: list[str], core: int) -> subprocess.Popen[str]:
    """The command on one core, where there are two."""
    pinned = ["taskset", "-c", str(core % (os.cpu_count() or 1)), *command]
    return subprocess.Popen(
        pinned, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )


def finish(process: subprocess.Popen[str]) -> tuple[str, float]:
    """Output and CPU seconds charged to the process."""
    assert process.stdout is not None
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stdout.close()
    assert process.returncode == 0, output
    return output, usage.ru_utime + usage.ru_stime


def summarise(transport: str, pairs: list[dict[str, Shot]]) -> list[str]:
    """Medians, and the spread of the ratio from pair to pair."""
    figures = {
        "tcp": (("TCP GB/s", "bytes_per_s", 1e9), ("TCP CPU s/GB", "cpu_s_per_gb", 1.0)),
        "udp": (
            (f"UDP {DATAGRAM_BYTES} B Mdatagrams/s", "datagrams_per_s", 1e6),
            ("UDP CPU s/GB", "cpu_s_per_gb", 1.0),
        ),
    }[transport]
    lines = [f"{len(pairs)} pairs, {transport}, 1 flow"]
    for name, figure, unit in figures:
        ours = [getattr(shots["steelyard"], figure) / unit for shots in pairs]
        theirs = [getattr(shots["iperf3"], figure) / unit for shots in pairs]
        ratios = sorted(a / b for a, b in zip(ours, theirs, strict=True))
        mine, other, ratio = map(statistics.median, (ours, theirs, ratios))
        spread = f"{ratios[0]:.3f} to {ratios[-1]:.3f}"
        lines.append(
            f"{name:22} steelyard {mine:9.3f}   iperf3 {other:9.3f}   ratio {ratio:.3f}  ({spread})"
        )
    return lines


def store(document: dict[str, object]) -> None:
    """Keeps raw figures and set-up of this run."""
    RUNS.mkdir(exist_ok=True)
    path = RUNS / f"{time.strftime('%Y-%m-%d')}-stream-against-iperf3.json"
    path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    print(f"written to {path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path}")


if __name__ == "__main__":
    main()
