"""A packed run of any size from the attempts of a real one, with figures that vary.

Each attempt has the record and the load of one of the twelve kept ones, with its own throughput.
What repeats packs far better than what was measured: bytes at rest say nothing here, and are
measured on real runs.
"""

from __future__ import annotations

import hashlib
import json
import math
import random
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path

from steelyard.plan.make import make_plan
from steelyard.records.archive import Run, RunFacts
from steelyard.records.attempt_folder import attempt_key
from steelyard.records.compaction import MOST_BYTES
from steelyard.records.counters import Counters, counters_of, stored
from steelyard.records.creation import create_run
from steelyard.records.events import AttemptFinished, AttemptStarted, SessionClosed, SessionOpened
from steelyard.records.files.checksums import SUMS
from steelyard.records.files.packed import PACKED, packed_bytes
from steelyard.records.ledger_lines import line_of
from steelyard.records.schema import Outcome
from steelyard.study.read import read_study_bytes

KEPT = Path(__file__).parents[2] / "tests" / "records" / "v2"
LOADS = 3
MOST_VISITS = 1000
"""Of a plan: larger runs have more loads."""
VARIANTS = 48
_BEGAN_NS = 1_800_000_000 * 10**9


def make_run(results: Path, trials: int, samples: int = 30) -> Run:
    """A run of so many trials, each with so many samples, packed as ``steelyard compact`` packs."""
    text = (KEPT / "study.yaml").read_text("utf-8")
    loads = max(LOADS, math.ceil(trials / MOST_VISITS))
    text = text.replace("users: [4]", f"users: {list(range(1, loads + 1))}")
    text = text.replace("trials: 6 per cell", f"trials: {max(6, trials // (2 * loads))} per cell")
    study = read_study_bytes(text.encode(), Path("study.yaml"))
    plan = make_plan(study, 7)
    facts = RunFacts(
        tool_version="bench", study=study.name, study_file="study.yaml",
        study_sha256=study.sha256, variant=None, seed=7, created_unix_ns=_BEGAN_NS,
    )  # fmt: skip
    run = create_run(results, facts, text.encode(), plan)
    draw = random.Random(1)  # noqa: S311 - figures of a benchmark
    frames = [_samples(samples, variant) for variant in range(VARIANTS)]
    seeds = sorted(KEPT.glob("trials/*"))
    (run.path / PACKED).mkdir()
    part: dict[str, dict[str, bytes]] = {}
    size = number = 0
    planned = [trial for visit in plan.visits for trial in visit.trials]
    for trial in planned:
        seed = seeds[trial.trial % len(seeds)]
        record = json.loads((seed / "record.json").read_text("utf-8"))
        rate = 1000 * draw.lognormvariate(0.3 if trial.cell.system == "fast" else 0, 0.05)
        record["responses"]["throughput"]["value"] = rate
        record |= {
            "trial": trial.trial, "attempt": 1, "visit": trial.visit,
            "cell": trial.cell.model_dump(), "files": ["load.json", "samples.json.gz"],
            "started_unix_ns": _BEGAN_NS + trial.trial * 10**9,
            "finished_unix_ns": _BEGAN_NS + trial.trial * 10**9 + 7 * 10**8,
        }  # fmt: skip
        files = {
            "record.json": json.dumps(record).encode(),
            "load.json": (seed / "load.json").read_bytes(),
            "samples.json.gz": frames[trial.trial % VARIANTS],
        }
        files[SUMS] = _sums(files)
        part[attempt_key(trial.trial, 1)] = files
        size += sum(map(len, files.values()))
        if size > MOST_BYTES or trial is planned[-1]:
            number += 1
            (run.path / PACKED / f"{number:04d}.parquet").write_bytes(packed_bytes(part))
            part, size = {}, 0
    _write_ledger(run, len(planned))
    return run


def _samples(rows: int, variant: int) -> bytes:
    """Counters of the kept samples, grown over so many rows."""
    (first, *_) = sorted(KEPT.glob("trials/*/samples.*"))
    columns = counters_of(first.read_bytes(), first.name).columns
    draw = random.Random(variant)  # noqa: S311 - figures of a benchmark
    return stored(Counters({name: _grown(name, v, rows, draw) for name, v in columns.items()}))


def _grown(
    name: str, values: Sequence[int | None], rows: int, draw: random.Random
) -> list[int | None]:
    if values[0] is None:
        return [None] * rows
    on_time = name in {"monotonic_ns", "controller_ns"}
    steps = (10**8 if on_time else draw.randrange(1000) for _ in range(rows))
    return list(accumulate(steps, initial=values[0]))[:rows]


def _sums(files: dict[str, bytes]) -> bytes:
    lines = (f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in files.items())
    return "".join(lines).encode()


def _write_ledger(run: Run, trials: int) -> None:
    crc = 0
    with run.ledger_path.open("wb") as ledger:
        events = [SessionOpened()]
        for trial in range(1, trials + 1):
            events += [
                AttemptStarted(trial=trial, attempt=1),
                AttemptFinished(trial=trial, attempt=1, outcome=Outcome.OK),
            ]
        events.append(SessionClosed(reason="budget_visits"))
        for event in events:
            line, crc = line_of(event, crc)
            ledger.write(line)
