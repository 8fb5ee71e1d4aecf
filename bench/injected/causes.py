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

from bench.injected.study import LONGEST_S

from steelyard.records.archive import runs_below
from steelyard.records.schema import Outcome

TRIALS = 3
"""Of each study: what most of them name is what the cell is said to be limited by."""
_STUDY = """\
study: limited
question: What limits this system?
systems:
  only: {{platform: native, {system}}}
workload: {workload}
load: {{users: {users}}}
generator: {{calibrate: false}}
responses: {{throughput: {{primary: true}}}}
trials:
  {{margin: 5 %, window: 1 s, warmup: 200 ms, reset: service, retry: 0,
   budget: {{trials: {trials} per cell}}}}
sample: {{every: 100 ms, where: [system, host]}}
"""
_SERVICE = """\
summary: One page a request, built to wait.
speaks: [http]
requires: [python3]
settings:
  waits: {kind: word, choices: [queue, lock, memory], default: queue, meaning: "for what"}
  port: {kind: port, meaning: "port to listen on; without it, a free one"}
files:
  - at: "{folder}/server.py"
    content: |
      import http.server
      import mmap
      import random
      import socketserver
      import sys
      import threading
      import time

      address, port, waits, folder = sys.argv[1:]
      one = threading.Lock()
      if waits == "memory":
          size = 160 * 2**20
          with open(folder + "/pages", "wb") as file:
              for _ in range(160):
                  file.write(random.randbytes(2**20))
          file = open(folder + "/pages", "rb")
          pages = mmap.mmap(file.fileno(), size, prot=mmap.PROT_READ)
          pages.madvise(mmap.MADV_RANDOM)


      class Page(http.server.BaseHTTPRequestHandler):
          def do_GET(self):
              if waits == "queue":
                  time.sleep(0.004)
              elif waits == "lock":
                  with one:
                      time.sleep(0.004)
              else:
                  sum(pages[random.randrange(size)] for _ in range(200))
              self.send_response(200)
              self.send_header("Content-Length", "2")
              self.end_headers()
              self.wfile.write(b"ok")

          def log_message(self, *arguments):
              pass


      class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
          daemon_threads = True
          request_queue_size = 128


      kind = http.server.HTTPServer if waits == "queue" else Server
      kind.request_queue_size = 128
      kind((address, int(port)), Page).serve_forever()
command: [python3, "{folder}/server.py", "{address}", "{port}", "{waits}", "{folder}"]
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


def _shaped(_folder: Path) -> list[str]:
    return ["tc qdisc add dev lo root tbf rate 40mbit burst 64kb latency 2s"]


LIMITED = (
    Limited(
        "processor",
        "one core, a page that is made anew for each connection",
        frozenset({"machine_cpu", "one_core_of_service"}),
        "confine: {cpuset: '0'}, service: {use: sink-http, tls: implicit}",
        "{use: http, tls: as the service, keep_alive: false}",
    ),
    Limited(
        "host below the system",
        "a quota of 0.2 processors, set from outside",
        frozenset({"cpu_limit", "host_cpu"}),
        "confine: {cpus: 0.2}, service: {use: sink-http}",
    ),
    Limited(
        "disk",
        "every message is synced to an ext4 of its own on a loop device",
        frozenset({"disk_busy_time"}),
        "disks: {data: {size: 256 MiB, filesystem: ext4}}, "
        "service: {use: sink-smtp, store: maildir, sync: each message}",
        "{use: smtp, body: 64 KiB}",
        users=16,
    ),
    Limited(
        "memory",
        "each page reads 200 places of a file of 160 MiB, of which 48 fit",
        frozenset({"memory"}),
        _waiting("memory", "confine: {memory: 48 MiB}, "),
    ),
    Limited(
        "network",
        "a link of 40 Mbit/s (tbf)",
        frozenset({"network"}),
        "service: {use: sink-http, body: 256 KiB}",
        "{use: http}",
        setup=_shaped,
    ),
    Limited("queue", "one worker that takes 4 ms", frozenset({"queue"}), _waiting("queue")),
    Limited(
        "lock",
        "a thread for each connection, one lock for 4 ms",
        frozenset({"lock"}),
        _waiting("lock"),
    ),
    Limited(
        "generator",
        "a server of two threads, one thread that drives 64 users",
        frozenset({"generator"}),
        "service: {use: sink-http, threads: 2}",
        "{use: http}",
        users=64,
    ),
)


@dataclass(frozen=True)
class Named:
    """What the trials of one study name; ``None`` is nothing."""

    exit_code: int
    bottlenecks: list[str | None]
    took_s: float

    @property
    def most(self) -> str | None:
        """What most of them name."""
        return Counter(self.bottlenecks).most_common(1)[0][0] if self.bottlenecks else None


def measured(limited: Limited, folder: Path) -> Named:
    """Runs the study of one such system."""
    (folder / "services").mkdir()
    (folder / "services" / "limited.yaml").write_text(_SERVICE, encoding="utf-8")
    study = _STUDY.format(
        system=limited.system, workload=limited.workload, users=limited.users, trials=TRIALS
    )
    (folder / "study.yaml").write_text(study, encoding="utf-8")
    run = (
        f"exec {sys.executable} -m steelyard run study.yaml --quiet --format json --results results"
    )
    steps = ["ip link set lo mtu 1500 up", *limited.setup(folder), run]
    began_s = time.monotonic()
    with (folder / "said").open("wb") as said:
        process = subprocess.Popen(
            ["timeout", str(LONGEST_S), "unshare", "--net", "sh", "-ec", " && ".join(steps)],
            cwd=folder,
            env={**os.environ, "STEELYARD_LEASE": f"{folder}.lease"},
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
    records = runs[0].records() if runs else []
    named = [
        None if record.bottleneck is None else str(record.bottleneck.resource)
        for record in records
        if record.outcome is Outcome.OK
    ]
    return Named(code, named, round(time.monotonic() - began_s, 1))
