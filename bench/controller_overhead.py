"""What the controller costs per trial: wall time that is not reset, settle, warm-up or window.

Reads the phases of a run's records: of the run that is named, or of the first study, run now. A
benchmark, not a test: figures of one machine at one time.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
from itertools import pairwise
from pathlib import Path

from steelyard.records.archive import open_run
from steelyard.records.schema import Outcome, TrialRecord
from steelyard.trial.attempt.timeline import overhead_ns

ROOT = Path(__file__).parents[1]
STUDY = ROOT / "studies" / "quickstart"


def main() -> None:
    """Prints the median and spread over all good trials, in all and by phase."""
    if len(sys.argv) > 1:
        report(open_run(Path(sys.argv[1])).records())
        return
    with tempfile.TemporaryDirectory(dir=ROOT) as folder:
        command = [sys.executable, "-m", "steelyard", "run", str(STUDY), "--results", folder]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        report(open_run(Path(folder) / "https-cost").records())


def report(records: list[TrialRecord]) -> None:
    """One line for the whole, one for each phase, and the gap between two trials."""
    records = [record for record in records if record.outcome is Outcome.OK]
    print(f"{len(records)} trials")
    show("overhead within a trial", [overhead_ns(record.phases_ns) for record in records])
    ordered = sorted(records, key=lambda record: record.started_unix_ns)
    gaps = [after.started_unix_ns - before.finished_unix_ns for before, after in pairwise(ordered)]
    show("between two trials (record, look)", gaps)
    for phase in dict.fromkeys(phase for record in records for phase in record.phases_ns):
        show(f"  {phase}", [r.phases_ns[phase] for r in records if phase in r.phases_ns])


def show(name: str, spent_ns: list[int]) -> None:
    """Median, tenth and ninetieth percentile in ms."""
    deciles = statistics.quantiles(spent_ns, n=10) if len(spent_ns) > 1 else spent_ns * 9
    low, middle, high = deciles[0] / 1e6, statistics.median(spent_ns) / 1e6, deciles[-1] / 1e6
    print(f"{name:36} median {middle:8.1f} ms   p10 {low:8.1f}   p90 {high:8.1f}")


if __name__ == "__main__":
    main()
