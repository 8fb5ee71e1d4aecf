"""One study by the command line, with a fault in the trials of its second system alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.injected.faults import ClockStep, Fault
from bench.injected.machine import descendants

from steelyard.inference.assumptions.diagnostics import counts_differ
from steelyard.judge.kinds.verdict_notes import CAUSES
from steelyard.records.archive import Run, runs_below
from steelyard.records.schema import Outcome, TrialRecord

STRUCK = "two"
LONGEST_S = 240
_UNLIKELY = 0.05
_SERVICES = {
    "http": "{use: sink-http, body: 32 KiB}",
    "smtp": "{use: sink-smtp, store: maildir, sync: each message}",
}
_STUDY = """\
study: injected
question: Are two equal systems told apart by what happens to the machine of one of them?
systems:
  one: {{platform: native, service: {service}}}
  two: {{platform: native, service: {service}}}
workload: {{use: {workload}}}
load: {{users: 4}}
generator: {{calibrate: false}}
trials:
  {{margin: 5 %, window: 400 ms, warmup: 50 ms, reset: service, retry: 0,
   budget: {{trials: {trials} per cell}}}}
sample: {{every: 100 ms}}
"""
TRIALS = 6
_STEPPED = """\
import sys
from pathlib import Path
from steelyard.hosts.host import Host
from steelyard.cli.entry import main

read, steps = Host.clock, [0]


def stepped(host):
    clock = read(host)
    steps[0] += 50_000_000 * Path("clock-steps").exists()
    return clock.model_copy(update={"realtime_ns": clock.realtime_ns + steps[0]})


Host.clock = stepped
sys.argv = ["steelyard", *sys.argv[1:]]
main()
"""


@dataclass(frozen=True)
class Came:
    """What became of a study. ``told`` are the words about equal systems that are wrong.

    ``by_warning``: kinds that more trials of the struck system have than of the other. ``judged``:
    what the judge says of the machine, and withholds a verdict for. ``refused``: how trials ended
    that do not count.
    """

    exit_code: int
    trials: int
    told: list[str]
    by_warning: list[str]
    judged: list[str]
    refused: list[str]
    warned: dict[str, list[int]]
    took_s: float


def conducted(fault: Fault) -> Came:
    """Runs it to its end, or for four minutes."""
    folder = fault.folder
    (folder / "results").mkdir()
    service = _SERVICES[fault.workload]
    study = _STUDY.format(service=service, workload=fault.workload, trials=TRIALS)
    (folder / "study.yaml").write_text(study, encoding="utf-8")
    began_s = time.monotonic()
    process = _start(fault)
    try:
        fault.prepare(process.pid)
        events = list(_followed(process, fault))
        code = process.wait()
    finally:
        for pid in [*descendants(process.pid), process.pid]:
            _kill(pid)
        process.wait()
    return _came(code, events, time.monotonic() - began_s)


def _start(fault: Fault) -> subprocess.Popen[str]:
    python = f"exec {sys.executable}"
    script = '-c "$STEPPED"' if isinstance(fault, ClockStep) else "-m steelyard"
    run = f"{python} {script} run study.yaml --json --format json --results results"
    steps = ["ip link set lo mtu 1500 up", *fault.setup(), run]
    return subprocess.Popen(  # less urgent than the fault, which must begin before its trial does
        ["nice", "-n", "3", "unshare", "--net", "--mount", "sh", "-ec", " && ".join(steps)],
        cwd=fault.folder,
        env={**os.environ, "STEELYARD_LEASE": f"{fault.folder}/lease", "STEPPED": _STEPPED},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=(fault.folder / "said").open("wb"),
        text=True,
    )


def _followed(process: subprocess.Popen[str], fault: Fault) -> Iterator[dict[str, Any]]:
    """Every event of the run; the fault is on during trials of the struck system."""
    struck: set[int] = set()
    end_s = time.monotonic() + LONGEST_S
    assert process.stdout is not None
    for line in process.stdout:
        event = json.loads(line)
        if event["event"] == "run_planned":
            struck = _trials_of_struck(process.pid, fault.folder)
        if event["event"] == "attempt_started" and event["trial"] in struck:
            fault.begin()
        if event["event"] == "attempt_finished" and event["trial"] in struck:
            fault.end()
        if event["event"] == "attempt_finished":
            event["record"] = _record(process.pid, fault.folder, event)
        yield event
        if time.monotonic() > end_s:
            process.terminate()


def _run(pid: int, folder: Path) -> Run:
    """Its results lie in the mount namespace of the study."""
    (run,) = runs_below(Path(f"/proc/{pid}/root{folder}/results"))
    return run


def _trials_of_struck(pid: int, folder: Path) -> set[int]:
    plan = _run(pid, folder).planned()
    trials = (trial for visit in plan.visits for trial in visit.trials)
    return {trial.trial for trial in trials if trial.cell.system == STRUCK}


def _record(pid: int, folder: Path, event: dict[str, Any]) -> TrialRecord:
    name = f"{event['trial']:04d}-{event['attempt']}"
    path = _run(pid, folder).path / "trials" / name / "record.json"
    return TrialRecord.model_validate_json(path.read_bytes())


def _came(code: int, events: list[dict[str, Any]], took_s: float) -> Came:
    records = [event["record"] for event in events if "record" in event]
    findings = next((e["findings"] for e in events if e["event"] == "run_judged"), None)
    verdicts = [] if findings is None else findings["workloads"][0]["verdicts"]
    decided = [each for each in verdicts if not each["exploratory"]]
    words = {word for each in decided for word in each["words"]} & {"faster", "slower"}
    notes = [note for each in decided for note in (each["withheld"], *each["notes"]) if note]
    warned = _warned(records)
    return Came(
        exit_code=code,
        trials=len(records),
        told=sorted(words),
        by_warning=[kind for kind in warned if _more_in_struck(warned[kind])],
        judged=sorted({note["cause"] for note in notes if "cause" in note}),
        refused=sorted({str(r.outcome) for r in records if r.outcome is not Outcome.OK}),
        warned=warned,
        took_s=round(took_s, 1),
    )


def _warned(records: list[TrialRecord]) -> dict[str, list[int]]:
    """Of each kind that speaks of the machine: struck trials with it, all of these, others, all."""
    good = [record for record in records if record.outcome is Outcome.OK]
    struck = [r for r in good if r.cell.system == STRUCK]
    others = [r for r in good if r.cell.system != STRUCK]

    def having(kind: str, of: list[TrialRecord]) -> int:
        return sum(any(each.kind == kind for each in record.warnings) for record in of)

    kinds = [*map(str, CAUSES), "swapped"]
    counts = {k: [having(k, struck), len(struck), having(k, others), len(others)] for k in kinds}
    return {kind: count for kind, count in counts.items() if count[0] or count[2]}


def _more_in_struck(count: list[int]) -> bool:
    one, another = (count[0], count[1]), (count[2], count[3])
    if not one[1] or not another[1] or one[0] * another[1] <= another[0] * one[1]:
        return False
    return bool(counts_differ(one, another, level=_UNLIKELY))


def _kill(pid: int) -> None:
    try:
        os.kill(pid, 9)
    except ProcessLookupError:
        return
