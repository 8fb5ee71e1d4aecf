"""Systems built to be limited by one resource each, and what is named as their bottleneck."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bench.injected.machine import write_pages
from bench.injected.study import LONGEST_S

from steelyard.records.archive import runs_below
from steelyard.records.schema import Outcome, TrialRecord

TRIALS = 6
"""Of each cell: what most of them name is what it is said to be limited by."""
_STUDY = """\
study: limited
question: What limits this system?
systems:
  one: {{platform: native, {system}}}
  two: {{platform: native, {system}}}
workload: {workload}
load: {{users: {users}}}
generator: {{calibrate: false}}
responses: {{throughput: {{primary: true}}}}
trials:
  {{margin: 5 %, window: 600 ms, warmup: 100 ms, reset: service, retry: 0,
   budget: {{trials: {trials} per cell}}}}
sample: {{every: 100 ms, where: [system, host]}}
"""
_SERVICE = """\
summary: One page a request, built to wait.
speaks: [http]
requires: [python3]
settings:
  waits: {kind: word, choices: [queue, lock, memory, processor], default: queue, meaning: what}
  port: {kind: port, meaning: "port to listen on; without it, a free one"}
files:
  - at: "{folder}/server.py"
    content: |
      import http.server
      import mmap
      import os
      import random
      import socketserver
      import sys
      import threading
      import time

      address, port, waits, folder = sys.argv[1:]
      one = threading.Lock()
      if waits == "memory":
          file = open(folder + "/pages", "rb")
          size = os.fstat(file.fileno()).st_size
          os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
          while file.read(2**20):  # so that what is read later had to make room before
              pass
          pages = mmap.mmap(file.fileno(), size, prot=mmap.PROT_READ)
          pages.madvise(mmap.MADV_RANDOM)


      class Page(http.server.BaseHTTPRequestHandler):
          def do_GET(self):
              if waits == "queue":
                  time.sleep(0.02)
              elif waits == "lock":
                  with one:
                      time.sleep(0.02)
              elif waits == "processor":
                  sum(range(100_000))
              else:
                  sum(pages[random.randrange(size)] for _ in range(1000))
              self.send_response(200)
              self.send_header("Content-Length", "2")
              self.end_headers()
              self.wfile.write(b"ok")

          def log_message(self, *arguments):
              pass


      class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
          daemon_threads = True
          request_queue_size = 128


      kind = Server if waits == "lock" else http.server.HTTPServer
      kind.request_queue_size = 128
      server = kind((address, int(port)), Page)
      if waits in ("memory", "processor"):  # threads of Python would wait for one another
          any(os.fork() == 0 for _ in range(7))
      server.serve_forever()
command: [python3, "{folder}/server.py", "{address}", "{port}", "{waits}", "{study}"]
listeners: {http: port}
ready: listening
version: {run: [python3, --version], pattern: 'Python (\\S+)'}
"""
_HTTP = "{use: http, keep_alive: false}"


@dataclass(frozen=True)
class Limited:
    """A system and what must be named; ``setup`` runs in its namespaces before the controller."""

    words: str
    how: str
    right: frozenset[str]
    system: str
    workload: str = _HTTP
    users: int = 8
    setup: Callable[[Path], list[str]] = lambda _folder: []


def _waiting(what: str, more: str = "") -> str:
    return f"{more}service: {{use: limited, waits: {what}}}"


def _paged(folder: Path) -> list[str]:
    write_pages(folder / "pages", 128 * 2**20)
    return []


def _shaped(_folder: Path) -> list[str]:
    return ["tc qdisc add dev lo root tbf rate 40mbit burst 64kb latency 2s"]


LIMITED = (
    Limited(
        "processor",
        "one core, on which each page takes some milliseconds of Python",
        frozenset({"machine_cpu", "one_core_of_service"}),
        _waiting("processor", "confine: {cpuset: '0'}, "),
    ),
    Limited(
        "host below the system",
        "a quota of 0.02 processors, set from outside",
        frozenset({"cpu_limit", "host_cpu"}),
        "settings: {cgroup: {cpus: 0.02}}, service: {use: sink-http}",
    ),
    Limited(
        "disk",
        "every message is synced to an ext4 of its own on a loop device",
        frozenset({"disk_wait", "disk_busy_time"}),
        "disks: {data: {size: 256 MiB, filesystem: ext4}}, "
        "service: {use: sink-smtp, store: maildir, sync: each message}",
        "{use: smtp, body: 64 KiB}",
        users=16,
    ),
    Limited(
        "memory",
        "each page reads 1,000 places of a file of 128 MiB that was read before, of which 48 fit",
        frozenset({"memory"}),
        _waiting("memory", "confine: {memory: 48 MiB}, "),
        setup=_paged,
    ),
    Limited(
        "network",
        "a link of 40 Mbit/s (tbf)",
        frozenset({"network"}),
        "service: {use: sink-http, body: 256 KiB}",
        "{use: http}",
        setup=_shaped,
    ),
    Limited(
        "queue",
        "one worker that takes 20 ms",
        frozenset({"accept_queue"}),
        _waiting("queue"),
    ),
    Limited(
        "lock",
        "a thread for each connection, one lock for 20 ms",
        frozenset({"lock"}),
        _waiting("lock"),
    ),
    Limited(
        "generator",
        "a server of two threads, one thread of a client that opens each connection by TLS",
        frozenset({"generator"}),
        "service: {use: sink-http, threads: 2, tls: implicit}",
        "{use: http, tls: as the service, keep_alive: false}",
        users=64,
    ),
)


@dataclass(frozen=True)
class Named:
    """What one cell is said to be limited by: what most of its trials name; ``None`` is nothing.

    ``also``: in how many trials a resource was used up as well, behind the worst.
    """

    exit_code: int
    named: str | None
    bottlenecks: dict[str, int]
    also: dict[str, int]
    took_s: float


def write_study(limited: Limited, folder: Path) -> Path:
    """With the service that it may use."""
    (folder / "services").mkdir()
    (folder / "services" / "limited.yaml").write_text(_SERVICE, encoding="utf-8")
    study = _STUDY.format(
        system=limited.system, workload=limited.workload, users=limited.users, trials=TRIALS
    )
    path = folder / "study.yaml"
    path.write_text(study, encoding="utf-8")
    return path


def measured(limited: Limited, folder: Path) -> list[Named]:
    """Runs a study of two such systems: each is one cell."""
    write_study(limited, folder)
    run = (
        f"exec {sys.executable} -m steelyard run study.yaml --quiet --format json --results results"
    )
    steps = ["ip link set lo mtu 1500 up", *limited.setup(folder), run]
    began_s = time.monotonic()
    with (folder / "said").open("wb") as said:
        process = subprocess.Popen(
            ["timeout", str(LONGEST_S), "unshare", "--net", "sh", "-ec", " && ".join(steps)],
            cwd=folder,
            env={**os.environ, "STEELYARD_LEASE": f"{folder}/lease"},
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
        )
        try:
            code = process.wait()
        finally:
            process.terminate()
            process.wait()
    runs = runs_below(folder / "results")
    records = [r for r in runs[0].records() if r.outcome is Outcome.OK] if runs else []
    took_s = round(time.monotonic() - began_s, 1)
    cells = [[r for r in records if r.cell.system == system] for system in ("one", "two")]
    return [_named(code, cell, took_s) for cell in cells if cell]


def _named(code: int, records: list[TrialRecord], took_s: float) -> Named:
    found = [record.bottleneck for record in records]
    worst = Counter(None if each is None else str(each.resource) for each in found)
    also = Counter(str(other.resource) for each in found if each for other in each.also)
    told = {name or "none": count for name, count in worst.items()}
    return Named(code, worst.most_common(1)[0][0], told, dict(also), took_s)
