"""``steelyard serve`` as people use it: a live run, a token, Ctrl-C, a browser."""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.integration.conftest import LONGEST_S, Steelyard

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


@contextmanager
def served(steelyard: Steelyard, *options: str) -> Iterator[str]:
    """The address of a server that ends with Ctrl-C, quickly and without complaint."""
    process = steelyard.start("serve", "results", "--listen", "127.0.0.1:0", *options)
    assert process.stdout is not None
    address = process.stdout.readline().strip()
    try:
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/", address), address
        yield address.rstrip("/")
    finally:
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=LONGEST_S)
    assert (process.returncode, stdout) == (0, "")
    assert "Traceback" not in stderr, stderr


def until_listed(address: str) -> str:
    end = time.monotonic() + LONGEST_S
    while time.monotonic() < end:
        runs = httpx.get(f"{address}/runs.json", timeout=LONGEST_S).json()["runs"]
        if runs:
            return str(runs[0]["run"])
        time.sleep(0.2)
    raise AssertionError("no run was listed")


def states(address: str, key: str) -> Iterator[dict[str, Any]]:
    """What a live page is sent, until the run has ended."""
    with httpx.stream("GET", f"{address}/live/{key}/events", timeout=LONGEST_S) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        end = time.monotonic() + LONGEST_S
        for line in answer.iter_lines():
            assert time.monotonic() < end, "the stream does not end with the run"
            if line.startswith("data: "):
                yield json.loads(line.removeprefix("data: "))


def test_a_live_run_is_followed_to_its_end_and_is_not_touched(steelyard: Steelyard) -> None:
    (steelyard.folder / "results").mkdir()
    with served(steelyard) as address:
        run = steelyard.start("run", ".", "--seed", "1")
        key = until_listed(address)
        seen = list(states(address, key))
        _, stderr = run.communicate(timeout=LONGEST_S)
        listed = httpx.get(f"{address}/runs.json", timeout=LONGEST_S).json()["runs"][0]
    assert run.returncode == 0, stderr
    visits = [each["state"]["visits_done"] for each in seen]
    assert visits == sorted(visits)
    assert len(set(visits)) > 2, "the page saw the end alone"
    last = seen[-1]["state"]
    assert last["phase"] == "ended"
    assert last["trials_done"] == len(last["trials"]) - last["attempts_failed"]
    assert {"now", "closing", "verdicts", "trials", "cpu", "stops"} == set(seen[-1]["parts"])
    assert listed["status"] == last["ended"]
    folder = steelyard.folder / "results" / key
    assert not [path for path in folder.rglob("*") if path.is_symlink()]


def test_whoever_has_the_token_reads_and_ctrl_c_ends_open_streams(after_a_run: Steelyard) -> None:
    make = "(umask 077; head -c 24 /dev/urandom | base64 | tr +/ -_ > token)"
    subprocess.run(["bash", "-c", make], cwd=after_a_run.folder, check=True)
    token = (after_a_run.folder / "token").read_text().strip()
    with httpx.Client(timeout=LONGEST_S) as client:
        with served(after_a_run, "--token-file", "token", "--name", "lab.example") as address:
            assert client.get(f"{address}/runs").status_code == 401
            host = {"Host": "lab.example"}
            first = client.get(f"{address}/runs?token={token}", headers=host)
            assert (first.status_code, first.headers["location"]) == (303, "/runs")
            bearer = {"Authorization": f"Bearer {token}"}
            key = client.get(f"{address}/runs.json", headers=bearer).json()["runs"][0]["run"]
            page = client.get(f"{address}/live/{key}", headers=bearer)
            assert page.status_code == 200
            run = after_a_run.folder / "results" / key
            with (run / "ledger.jsonl").open("a") as ledger:  # a stream of a run that goes on
                ledger.write('{"event":"session_opened","at_unix_ns":1}\n')
            stream = client.build_request("GET", f"{address}/live/{key}/events", headers=bearer)
            answer = client.send(stream, stream=True)
            assert answer.status_code == 200
        answer.close()


@pytest.mark.extended
@pytest.mark.skipif(CHROMIUM is None, reason="needs chromium")
def test_a_browser_shows_each_page_and_runs_its_script(
    after_a_run: Steelyard, tmp_path: Path
) -> None:
    with served(after_a_run) as address:
        key = until_listed(address)
        while httpx.get(f"{address}/runs/{key}/", timeout=LONGEST_S).status_code == 202:
            time.sleep(0.5)
        for path, wanted in (
            ("/runs", "1 match"),
            (f"/runs/{key}/", "All runs"),
            (f"/live/{key}", "Ended; last change at"),
        ):
            dom, complaints = opened(f"{address}{path}", tmp_path)
            assert wanted in dom, path
            assert "Content Security Policy" not in complaints, complaints


def opened(address: str, folder: Path) -> tuple[str, str]:
    """The page as its script left it, and what the browser said of it."""
    assert CHROMIUM is not None
    done = subprocess.run(
        [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
         f"--user-data-dir={folder / 'profile'}", "--virtual-time-budget=5000", "--dump-dom",
         address],
        capture_output=True, text=True, timeout=LONGEST_S, check=True,
    )  # fmt: skip
    return done.stdout, done.stderr
