"""``python -m bench.report``: a line for each size, in a process of its own, and how it grows."""

from __future__ import annotations

import json
import math
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SIZES = (50, 500, 5_000, 20_000, 100_000)
GOALS = {500: (5.0, math.inf, 3.0), 100_000: (30.0, 1536.0, math.inf)}
"""By trials: seconds, MiB of memory, MB of the page."""


def measure(trials: int) -> dict[str, float]:
    """Time of this process and its peak, from the import of what draws to files on disk."""
    from bench.report.synthetic import findings_of  # noqa: PLC0415 - its time is not the report's

    found = findings_of(trials)
    begin, used = time.perf_counter(), time.process_time()
    from steelyard.report.formats.registry import write_report  # noqa: PLC0415 - counted

    with tempfile.TemporaryDirectory() as folder:
        write_report(found, Path(folder), ["html"])
        sizes = {path.name: path.stat().st_size / 1e6 for path in Path(folder).iterdir()}
    return {
        "trials": found.stop.trials_done,
        "wall_s": time.perf_counter() - begin,
        "cpu_s": time.process_time() - used,
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "page_mb": sizes["report.html"],
        "files_mb": sum(sizes.values()),
    }


def main() -> int:
    """All sizes; 1 where a goal is missed."""
    if len(sys.argv) > 1:
        print(json.dumps(measure(int(sys.argv[1]))))
        return 0
    print(f"load average {os.getloadavg()[0]:.1f}, {os.cpu_count()} processors")
    print("trials   wall s    CPU s  peak MiB  page MB  files MB  growth")
    missed, before = 0, None
    for size in SIZES:
        command = [sys.executable, "-m", "bench.report", str(size)]
        found = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
        growth = "" if before is None else f"{_exponent(before, found):.2f}"
        print(
            f"{found['trials']:6d} {found['wall_s']:8.2f} {found['cpu_s']:8.2f} "
            f"{found['peak_mib']:9.0f} {found['page_mb']:8.2f} {found['files_mb']:9.2f}  {growth}",
            flush=True,
        )
        wall_s, peak_mib, page_mb = GOALS.get(size, (math.inf,) * 3)
        within = found["cpu_s"] <= wall_s and found["peak_mib"] <= peak_mib
        missed += not (within and found["page_mb"] <= page_mb)
        before = found
    print("growth: power of the trials that the CPU time rises with, from one size to the next")
    return 1 if missed else 0


def _exponent(one: dict[str, float], other: dict[str, float]) -> float:
    return math.log(other["cpu_s"] / one["cpu_s"]) / math.log(other["trials"] / one["trials"])


if __name__ == "__main__":
    raise SystemExit(main())
