"""A whole study on the network of the run: a confined machine against a container."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.platforms.conftest import namespaces
from tests.platforms.needs import need

STUDY = """\
study: lab
question: Is a container as fast as the machine it runs on, over the network of the run?
systems:
  machine:   {platform: native, network: lab, confine: {cpus: 1}, service: {use: sink-http}}
  container: {platform: podman, cpus: 1, service: {use: sink-http}}
workload: {use: http}
load: {users: 2}
responses: {throughput: {primary: true}}
trials:
  margin: 5 %
  window: 100 ms
  warmup: 20 ms
  reset: process
  budget: {trials: 6 per cell}
"""
LONGEST_S = 400


def test_a_study_in_the_lab_measures_every_trial_and_leaves_nothing(tmp_path: Path) -> None:
    need("podman", "ip", "nsenter", root=True)
    (tmp_path / "study.yaml").write_text(STUDY, encoding="utf-8")
    ran = subprocess.run(
        [sys.executable, "-m", "steelyard", "run", "study.yaml", "--format", "md"],
        cwd=tmp_path,
        env={**os.environ, "NO_COLOR": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LONGEST_S,
        check=False,
    )
    assert ran.returncode in (0, 1), ran.stderr
    (run,) = (tmp_path / "results" / "lab").iterdir()
    records = [json.loads(file.read_text()) for file in run.glob("trials/*/record.json")]
    measured = [record["cell"]["system"] for record in records if record["outcome"] == "ok"]
    assert sorted(set(measured)) == ["container", "machine"]
    assert not [record for record in records if record["outcome"] == "undo_failed"]
    assert not (run / "scratch").exists()
    events = [json.loads(line) for line in (run / "ledger.jsonl").read_text().splitlines()]
    planned = {e["undo"]: e["inverse"] for e in events if e["event"] == "undo_planned"}
    made = {inverse["name"] for inverse in planned.values() if "name" in inverse}
    assert made
    assert not made & set(namespaces())
    assert set(planned) == {e["undo"] for e in events if e["event"] == "undone"}
