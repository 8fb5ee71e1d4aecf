"""Keeps a small run as a fixture of the schema version that it was written in.

    python -m tests.records.keep results/STUDY/RUN tests/records/vN

The copy names no machine: facts, paths and addresses are replaced, listings of the environment and
the report are left out, and samples are kept of the first two trials only.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path
from typing import Any

from steelyard.records.files.checksums import SUMS

_OF_MACHINE = {
    "cpu.model": "Example CPU",
    "cpu.count": "2",
    "kernel.release": "6.1.0-example",
    "memory.total_bytes": "8589934592",
}
_KEPT_FACTS = ("service.", "workload.", "platform.", "system.")
_BOOT_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_FOLDERS = re.compile(r"/[^\"\s]*?/results/")
_WITH_SAMPLES = 2


def keep(run: Path, into: Path) -> None:
    """Writes the anonymous copy of ``run``."""
    for name in ("run.json", "plan.json", "commitment.json", "study.yaml"):
        _write(into / name, (run / name).read_text("utf-8"))
    lines = (run / "ledger.jsonl").read_text("utf-8").splitlines()
    _write(into / "ledger.jsonl", "".join(f"{_event(json.loads(line))}\n" for line in lines))
    for number, trial in enumerate(sorted((run / "trials").iterdir())):
        _keep_trial(trial, into / "trials" / trial.name, samples=number < _WITH_SAMPLES)


def _keep_trial(trial: Path, into: Path, *, samples: bool) -> None:
    for path in sorted(path for path in trial.iterdir() if path.name != SUMS):
        if path.suffix == ".json":
            document = json.loads(path.read_text("utf-8"))
            _write(into / path.name, json.dumps(_anonymous(document)) + "\n")
        elif samples:
            shutil.copy(path, into / path.name)


def _event(event: dict[str, Any]) -> str:
    event.pop("crc32", None)  # what is made anonymous has another
    if event["event"] == "environment_compared":
        event |= {"count": 0, "differences": []}
    return json.dumps(event, separators=(",", ":"))


def _anonymous(document: dict[str, Any]) -> dict[str, Any]:
    if "facts" in document:
        document["facts"] = {name: _facts(facts) for name, facts in document["facts"].items()}
    if "host_client" in document:
        document["host_client"] |= {
            "kernel": _OF_MACHINE["kernel.release"],
            "cpu_model": _OF_MACHINE["cpu.model"],
        }
    return document


def _facts(facts: dict[str, str | None]) -> dict[str, str | None]:
    own = {name: value for name, value in facts.items() if name.startswith(_KEPT_FACTS)}
    return {name: value for name, value in _OF_MACHINE.items() if name in facts} | own


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = _BOOT_ID.sub("00000000-0000-4000-8000-000000000000", text)
    path.write_text(_FOLDERS.sub("/example/results/", text), encoding="utf-8")


if __name__ == "__main__":
    keep(Path(sys.argv[1]), Path(sys.argv[2]))
