"""A machine behind ``ssh`` that is this one, and whose agent says of itself what a test wants.

In place of ``ssh`` a script runs the command here. What an agent answers passes through it: its
version may be another one, its wall clock ahead, and set while a trial runs.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

ADDRESS = "ssh://far"
SCRIPT = """\
#!{python}
import json, os, subprocess, sys
from pathlib import Path

here = Path(__file__).parent
command = sys.argv[-1]
os.environ["XDG_CACHE_HOME"] = str(here / "cache")
if not command.endswith(" agent"):
    os.execvp("sh", ["sh", "-c", command])
said = json.loads((here / "said.json").read_text())
agent = subprocess.Popen(["sh", "-c", "exec " + command], stdout=subprocess.PIPE)
clocks = 0
for line in agent.stdout:
    reply = json.loads(line)
    answer = reply.get("ok") or {{}}
    if answer.get("kind") == "hello":
        answer["version"] = said.get("version", answer["version"])
    if answer.get("kind") == "clock":
        clocks += 1
        answer["realtime_ns"] += said.get("ahead_ns", 0)
        answer["realtime_ns"] += said.get("step_ns", 0) * (clocks > said.get("clocks_before", 0))
    sys.stdout.write(json.dumps(reply) + "\\n")
    sys.stdout.flush()
sys.exit(agent.wait())
"""


class Far:
    """What its agents say from their next greeting on."""

    def __init__(self, folder: Path) -> None:
        self._said = folder / "said.json"
        script = folder / "ssh"
        script.write_text(SCRIPT.format(python=sys.executable), encoding="utf-8")
        script.chmod(0o755)
        self.says()

    def says(self, **figures: int | str) -> None:
        self._said.write_text(json.dumps(figures), encoding="utf-8")


@pytest.fixture
def far(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Far:
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    return Far(folder)
