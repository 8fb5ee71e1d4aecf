"""``steelyard time`` and ``versus`` as a person types them."""

from __future__ import annotations

import json

import pytest

from tests.integration.conftest import Steelyard
from tests.integration.pages.actions import Reader, served


def test_two_commands_are_timed_and_exported(steelyard: Steelyard) -> None:
    done = steelyard.run(
        "time", "sleep 0.01", "sleep {x}", "-L", "x=0.05", "--budget", "60s", "--margin", "50%",
        "--export-json", "t.json", "--export-trials", "t.csv", "--seed", "3",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "sleep 0.05 is slower than sleep 0.01" in done.stdout
    document = json.loads((steelyard.folder / "t.json").read_text(encoding="utf-8"))
    assert document["verdict"]["verdicts"][0]["word"] == "slower"
    assert [each["command"] for each in document["results"]] == ["sleep 0.01", "sleep 0.05"]
    judged = steelyard.run(
        "judge", "t.csv", "--baseline", "sleep 0.01", "--response", "wall_s",
        "--direction", "lower", "--margin", "50%", "--budget", "192",
    )  # fmt: skip
    assert judged.returncode == 0, judged.stderr


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["time", "true"], 2),
        (["time", "true", "true", "--margin", "2"], 2),
        (["time", "true", "true", "--number", "x"], 2),
        (["time", "true", "true", "--response", "walls"], 2),
        (["time", "true", "true", "-L", "x"], 2),
        (["time", "true", "true", "--export-json", "no/such/folder.json"], 2),
        (["time", "true", "false"], 3),
        (["time", "true", "no-such-program"], 3),
        (["time", "sleep 0.2", "sleep 0.2", "--budget", "1s"], 3),
        (["versus", "http://127.0.0.1:1/", "http://127.0.0.1:1/"], 3),
        (["versus", "http://127.0.0.1:1/"], 2),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_judged(
    steelyard: Steelyard, words: list[str], code: int
) -> None:
    done = steelyard.run(*words)
    assert done.returncode == code, done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr


def test_a_slower_server_is_found_and_may_fail_a_pipeline(steelyard: Steelyard) -> None:
    reader = Reader(steelyard)
    with served(reader, "http") as one, served(reader, "http --delay 5ms") as other:
        done = steelyard.run(
            "versus", f"http://{one}/", f"http://{other}/", "-c", "2", "--window", "200 ms",
            "--budget", "60s", "--margin", "50%", "--fail-if", "slower", "--json",
        )  # fmt: skip
    assert done.returncode == 5, done.stderr
    assert json.loads(done.stdout)["response"] == "throughput"
