"""The script of a job, by a real shell: signals are passed on, and a crash is undone."""

from __future__ import annotations

import signal
import subprocess
import time
from pathlib import Path

import pytest

from steelyard.queue.batch import script_of

SESSION = """\
#!/bin/sh
echo "$1" >>{log}
[ "$1" = resume ] || exit 0
trap 'echo undone >>{log}; exit 130' TERM
echo ready >>{log}
{then}
"""


def job(folder: Path, then: str) -> tuple[subprocess.Popen[bytes], Path]:
    log, session, script = folder / "log", folder / "session", folder / "job.sh"
    session.write_text(SESSION.format(log=log, then=then))
    session.chmod(0o755)
    script.write_text(script_of([str(session)], folder, 1))
    return subprocess.Popen(["sh", str(script)]), log


@pytest.mark.parametrize(
    ("then", "code", "said"),
    [
        ("exit 0", 0, ["resume", "ready"]),
        ("exit 5", 5, ["resume", "ready"]),
        ("exit 3", 3, ["resume", "ready", "restore"]),
        ("kill -KILL $$", 137, ["resume", "ready", "restore"]),
    ],
)
def test_what_crashed_is_undone_and_what_ended_is_left_alone(
    tmp_path: Path, then: str, code: int, said: list[str]
) -> None:
    process, log = job(tmp_path, then)
    assert process.wait(60) == code
    assert log.read_text().split() == said


def test_a_signal_to_the_script_lets_the_session_undo_its_changes(tmp_path: Path) -> None:
    process, log = job(tmp_path, "while :; do sleep 0.05; done")
    while not log.exists() or "ready" not in log.read_text():
        time.sleep(0.01)
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 130
    assert log.read_text().split() == ["resume", "ready", "undone"]
