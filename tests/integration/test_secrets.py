"""The secret of a whole run is in no file of it, on no screen and in no list of processes."""

from __future__ import annotations

import time
from pathlib import Path

from tests.integration.conftest import Steelyard

WORDS = "S3cret-of-the-test"
STUDY = """\
study: login
question: Does the second of two equal sinks serve faster than the first?
systems:
  one: {platform: native, service: {use: sink-imap}}
  two: {platform: native, service: {use: sink-imap}}
workload: {use: imap, user: "user{n}", password: "${file:FOLDER/secret}"}
load: {users: 1}
trials: {margin: 2 %, window: 100 ms, warmup: 10 ms, reset: service, budget: {trials: 6 per cell}}
sample: {every: 100 ms}
"""


def command_lines() -> bytes:
    found = b""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                found += (entry / "cmdline").read_bytes()
            except OSError:
                continue
    return found


def test_a_secret_by_reference_stays_where_it_is(steelyard: Steelyard) -> None:
    study, secret = steelyard.folder / "login.yaml", steelyard.folder / "secret"
    study.write_text(STUDY.replace("FOLDER", str(steelyard.folder)), encoding="utf-8")
    refused = steelyard.run("run", str(study))
    assert refused.returncode == 3
    assert "secret-cannot-be-read" in refused.stderr
    assert not list(steelyard.folder.rglob("record.json"))
    secret.write_text(f"{WORDS}\n", encoding="utf-8")
    running = steelyard.start("run", str(study))
    listed = b""
    while running.poll() is None:
        listed += command_lines()
        time.sleep(0.05)
    stdout, stderr = running.communicate()
    assert running.returncode in {0, 1}, stderr
    assert WORDS not in stdout + stderr
    assert WORDS.encode() not in listed
    files = [path for path in steelyard.folder.rglob("*") if path.is_file() and path != secret]
    assert any(path.name == "load.json" for path in files)
    assert [path for path in files if WORDS.encode() in path.read_bytes()] == []
