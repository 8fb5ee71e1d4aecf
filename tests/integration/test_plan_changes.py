"""What `plan --changes` lists is all that a run then does: every command and every setting."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.integration.conftest import Steelyard
from tests.platforms.alone import alone_with_the_machine

STUDY = """\
study: listed
question: What does one more cost?
systems:
  a: {platform: native, service: {use: ./own.yaml}, settings: {SETTINGS}}
  b: {platform: native, service: {use: ./own.yaml}}
baseline: a
workload: {command: [dd, if=/dev/zero, "of={folder}/file", bs=4k, count=16]}
trials: {margin: 90 %, budget: {trials: 6}}
"""
OWN = """\
summary: A server of the study's own.
speaks: [http]
settings: {}
command: ["@engine", sink, http, --listen, "127.0.0.1:0"]
ready: announced
prepare: [{run: [sh, -c, "echo {folder}"]}]
"""
SETTING, PATH = "vm.stat_interval", "/proc/sys/vm/stat_interval"
"""One that no test beside it sets or looks at: all of them have this machine."""
TRACED = "trace=execve,openat"
_WORDS = re.compile(r'execve\("[^"]*", (\[.*\]), 0x')
_WRITTEN = re.compile(r'openat\(AT_FDCWD, "(/proc/sys/[^"]*|/sys/[^"]*)", O_(?:WRONLY|RDWR)')
_PORT = re.compile(r"(?<![\w.])\d{5}(?!\w)")


def commands_of(trace: str, run: Path) -> set[tuple[str, ...]]:
    """Every command that an agent was asked for: each stands behind `hold --control N --`."""
    found = set()
    for line in trace.splitlines():
        match = _WORDS.search(line)
        words: list[str] = ast.literal_eval(match[1]) if match else []
        if words[1:3] == ["hold", "--control"]:
            program, *rest = words[words.index("--") + 1 :]
            program = "@engine" if program.endswith("/steelyard-engine") else program
            found.add((program, *(named(word, run) for word in rest)))
    return found


def named(word: str, run: Path) -> str:
    """With what is another in each run and trial called as the list calls it."""
    marks = re.sub(r"steelyard-[0-9a-f]{8}", "steelyard-MARK", word.replace(str(run), "RUN"))
    return _PORT.sub("PORT", re.sub(r"/\d{4}-\d(?=/|$)", "/TRIAL", marks))


def in_the_plan(document: dict[str, Any]) -> set[tuple[str, ...]]:
    steps = [step for step in document["changes"] if step["kind"] in ("run", "start", "look")]
    return {tuple(step["words"]) for step in steps}


@pytest.fixture
def may_set() -> bool:
    return os.access(PATH, os.W_OK) and os.geteuid() == 0


def test_a_run_starts_and_sets_what_its_plan_lists_and_nothing_else(
    steelyard: Steelyard, may_set: bool
) -> None:
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed: what a run starts cannot be recorded")
    another = int(Path(PATH).read_text(encoding="ascii")) + 1 if may_set else 0
    sysctl = f"{{sysctl: {{{SETTING}: {another}}}}}" if may_set else "{}"
    folder = steelyard.folder
    text = STUDY.replace("{SETTINGS}", sysctl)
    (folder / "study.yaml").write_text(text, encoding="utf-8")
    (folder / "own.yaml").write_text(OWN, encoding="utf-8")
    # A daemon of tuned that another test has running is asked which profile is active.
    with alone_with_the_machine():
        planned = steelyard.run("plan", ".", "--changes", "--json")
        assert planned.returncode == 0, planned.stderr
        trace = traced(steelyard, "run", ".")
    document = json.loads(planned.stdout)
    assert document["missing"] == []
    (run,) = folder.glob("results/listed/*")
    done = commands_of(trace, run.resolve())
    assert any(words[0] == "dd" for words in done)
    assert ("sh", "-c", "echo RUN/scratch/steelyard-MARK-a-1/TRIAL") in done
    assert done - in_the_plan(document) - leases(done) == set()
    settings = {
        step["path"] for step in document["changes"] if step["kind"] == "write" and "now" in step
    }
    assert set(_WRITTEN.findall(trace)) == settings
    assert settings == ({PATH} if may_set else set())


def leases(done: set[tuple[str, ...]]) -> set[tuple[str, ...]]:
    """Of the lease, whose words hold the time and the process."""
    return {words for words in done if words[0] == "sh" and ".lease" in words[2]}


def traced(steelyard: Steelyard, *arguments: str) -> str:
    """What strace wrote of a command."""
    out = steelyard.folder / "trace.txt"
    strace = ["strace", "-f", "-qq", "-s", "65536", "-e", "signal=none", "-e", TRACED, "-o"]
    words = [*strace, str(out), sys.executable, "-m", "steelyard", *arguments]
    ran = subprocess.run(
        words,
        cwd=steelyard.folder,
        env=steelyard.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if "ptrace" in ran.stderr and not out.stat().st_size:
        pytest.skip("strace may not trace here")
    assert ran.returncode in (0, 1), ran.stderr
    return out.read_text(errors="replace")
