"""``python -m bench.archive [TRIALS...]``: a line for each size and step, each in a new process."""

from __future__ import annotations

import argparse
import gc
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

SIZES = (100, 1_000, 10_000)
SAMPLES = 30
GARBAGE = 50_000
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1"}
"""As the command loads numpy: several threads wait for each other in loops."""
SQL = "SELECT system, response, count(value), median(value) FROM responses GROUP BY ALL"


def _open(path: Path) -> None:
    from steelyard.records.archive import open_run  # noqa: PLC0415 - its time is counted

    run = open_run(path)
    run.facts(), run.plan(), run.attempt_keys()


def _read(path: Path) -> None:
    from steelyard.records.archive import open_run  # noqa: PLC0415 - the same

    for _ in open_run(path).each_record():
        pass


def _find(path: Path) -> None:
    from steelyard.records.archive import open_run  # noqa: PLC0415 - the same
    from steelyard.report.from_run import find  # noqa: PLC0415 - the same

    find(open_run(path))


def _report(path: Path) -> None:
    from steelyard.records.archive import open_run  # noqa: PLC0415 - the same
    from steelyard.report.formats.registry import write_report  # noqa: PLC0415 - the same
    from steelyard.report.kept import found  # noqa: PLC0415 - the same

    run = open_run(path)
    seen = found(run)
    write_report(seen.findings, run.report_path, ("html", "md"), made_of=seen.made_of)


def _series(path: Path) -> None:
    from steelyard.records.archive import open_run  # noqa: PLC0415 - the same

    run = open_run(path)
    for _ in run.loads():
        pass
    for _ in run.samples():
        pass


def _samples(path: Path) -> None:
    from steelyard.records.archive import open_run  # noqa: PLC0415 - the same

    for _ in open_run(path).samples():
        pass


def _query(path: Path) -> None:
    from steelyard.query.archive import asked  # noqa: PLC0415 - the same

    with asked(SQL, {"bench": path.parents[1]}, print) as answer:
        list(answer.rows())


STEPS: dict[str, Callable[[Path], None]] = {
    "open": _open, "records": _read, "series": _series, "findings": _find, "query": _query,
    "samples": _samples, "report": _report, "again": _report,
}  # fmt: skip
"""``again`` after ``report``: drawn from its findings."""


def measure(step: str, path: Path) -> dict[str, float]:
    """Time and peak of this process, imports included; garbage is collected as by the command."""
    gc.set_threshold(GARBAGE)
    begin = time.perf_counter()
    STEPS[step](path)
    return {
        "wall_s": time.perf_counter() - begin,
        "cpu_s": time.process_time(),
        "peak_mib": peak_kib() / 1024,
    }


def peak_kib() -> int:
    """Of this program alone; that of ``getrusage`` counts the parent before it was started."""
    text = Path("/proc/self/status").read_text("utf-8")
    return int(text.partition("VmHWM:")[2].split()[0])


def main() -> int:
    """All sizes and steps, or those that were asked for."""
    words = argparse.ArgumentParser(prog="python -m bench.archive")
    words.add_argument("trials", nargs="*", type=int, default=SIZES)
    words.add_argument("--steps", nargs="+", choices=STEPS, default=tuple(STEPS)[:-3])
    words.add_argument(
        "--samples", type=int, default=SAMPLES, help="of each trial, 96 numbers each"
    )
    words.add_argument("--run", type=Path, help="measure the first step on this run, as JSON")
    asked = words.parse_args()
    if asked.run is not None:
        print(json.dumps(measure(asked.steps[0], asked.run)))
        return 0
    from bench.archive.synthetic import make_run  # noqa: PLC0415 - of the parent alone

    load, processors = os.getloadavg()[0], os.cpu_count()
    print(f"load average {load:.1f}, {processors} processors, {asked.samples} samples")
    print("trials  step      wall s    CPU s  peak MiB")
    for size in asked.trials:
        with tempfile.TemporaryDirectory() as folder:
            run = make_run(Path(folder), size, asked.samples).path
            for step in asked.steps:
                found = _measured(step, run)
                print(
                    f"{size:6d}  {step:8s} {found['wall_s']:8.2f} "
                    f"{found['cpu_s']:8.2f} {found['peak_mib']:9.0f}",
                    flush=True,
                )
    return 0


def _measured(step: str, run: Path) -> dict[str, float]:
    command = [sys.executable, "-m", "bench.archive", "--run", str(run), "--steps", step]
    environment = os.environ | ONE_THREAD
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    found: dict[str, float] = json.loads(done.stdout)
    return found


if __name__ == "__main__":
    raise SystemExit(main())
