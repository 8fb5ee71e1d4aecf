"""Runs the load engine against a server and keeps its books."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from steelyard.engine.locate import find_engine

LONGEST_S = 300
OPERATIONS = 200


def load(url: str, *words: str, operations: int = OPERATIONS) -> dict[str, Any]:
    """The result of some operations, after a look that no operation is missing in it."""
    return _run(url, "-n", str(operations), *words)


def load_job(folder: Path, job: dict[str, Any]) -> dict[str, Any]:
    """The result of a job document."""
    document = folder / "job.json"
    document.write_text(json.dumps(job), encoding="utf-8")
    return _run("--job", str(document))


def closed(users: int) -> dict[str, Any]:
    return {"kind": "closed", "users": users}


def kinds(result: dict[str, Any]) -> dict[str, int]:
    """How often each kind of failure happened, in whatever phase."""
    counted: dict[str, int] = {}
    for phase in result["errors"].values():
        for kind, times in phase.items():
            counted[kind] = counted.get(kind, 0) + times
    return counted


def assert_all_good(result: dict[str, Any], operations: int = OPERATIONS) -> None:
    assert result["errors"] == {}
    assert result["connection_errors"] == {}
    assert result["counts"]["ok"] == result["counts"]["sent"] == operations


def refusal(url: str, *words: str) -> str:
    """What the engine says of a run that has no result, to a reader and to a program."""
    done = _process(url, "-n", "20", "-c", "2", *words)
    assert done.returncode != 0
    answer = json.loads(done.stdout)
    assert list(answer) == ["failed"]
    message: str = answer["failed"]["message"]
    assert message in done.stderr
    return message


def _run(*words: str) -> dict[str, Any]:
    done = _process(*words)
    assert done.stdout, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    counts = result["counts"]
    assert counts["intended"] == counts["unsent"] + counts["sent"]
    assert counts["sent"] == counts["ok"] + counts["errors"] + counts["inflight_at_stop"]
    assert counts["errors"] == sum(kinds(result).values())
    return result


def _process(*words: str) -> subprocess.CompletedProcess[str]:
    command = [str(find_engine()), "load", *words, "--json"]
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=LONGEST_S,
        stdin=subprocess.DEVNULL,
        check=False,
    )
