"""``steelyard time`` and ``versus`` as a person types them."""

from __future__ import annotations

import json
from pathlib import Path

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
        (["time", "true", "true", "--margin", "150%"], 2),
        (["versus", "http://127.0.0.1:1/", "http://127.0.0.1:1/", "--margin", "150%"], 2),
        (["time", "", "true"], 2),
        (["time", "{x}", "true", "-L", "x=,true"], 2),
        (["time", "true", "-L", "x=1,2"], 2),
        (["time", "true", "true", "--response", "printed"], 2),
        (["time", "echo 5,1", "echo 7,1", "--number", "(.+)"], 3),
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


def test_a_background_process_of_a_command_ends_with_the_command(steelyard: Steelyard) -> None:
    left = "sleep 3600 & echo $! >> pids"
    done = steelyard.run(
        "time", f"{left}; sleep 0.01", f"{left}; sleep 0.02", "--budget", "1s", "--margin", "90%",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    pids = (steelyard.folder / "pids").read_text(encoding="ascii").split()
    assert pids
    assert not [pid for pid in pids if Path("/proc", pid).exists()]


def test_what_a_setup_starts_runs_until_the_cleanup_and_no_longer(steelyard: Steelyard) -> None:
    done = steelyard.run(
        "time", "sleep 0.01", "sleep 0.02", "--setup", "sleep 3600 & echo $! >> pids",
        "--prepare", "kill -0 $(cat pids)", "--cleanup", "kill -0 $(tail -1 pids) && touch cleaned",
        "--budget", "1s", "--margin", "90%",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert (steelyard.folder / "cleaned").exists()
    for pid in (steelyard.folder / "pids").read_text(encoding="ascii").split():
        assert not Path("/proc", pid).exists()


def test_what_cannot_be_judged_says_why_and_may_fail_a_pipeline(steelyard: Steelyard) -> None:
    done = steelyard.run(
        "time", "echo 0", "echo 7", "--number", "(.+)", "--budget", "4s",
        "--fail-if", "not_judged", "--json",
    )  # fmt: skip
    assert done.returncode == 5, done.stderr
    document = json.loads(done.stdout)
    assert document["verdict"] is None
    assert "zero" in document["not_judged"]


def test_a_response_beside_a_number_is_the_one_that_is_judged(steelyard: Steelyard) -> None:
    done = steelyard.run(
        "time", "echo 5", "echo 7", "--number", "(.+)", "--response", "wall", "--budget", "1s",
        "--json",
    )  # fmt: skip
    assert json.loads(done.stdout)["response"] == "wall"


def test_operations_that_fail_are_counted_beside_the_verdict(steelyard: Steelyard) -> None:
    reader = Reader(steelyard)
    with served(reader, "http") as one, served(reader, "http --fault GET:drop:1/4") as other:
        words = ["versus", f"http://{one}/", f"http://{other}/", "-c", "2", "--margin", "90%"]
        done = steelyard.run(*words, "--budget", "5s", "--json")
    good, bad = json.loads(done.stdout)["results"]
    assert good["failures"] == {}
    assert 0 < sum(bad["failures"].values()) < bad["operations"]


def test_clear_text_and_tls_with_a_certificate_of_ones_own(steelyard: Steelyard) -> None:
    reader = Reader(steelyard)
    with served(reader, "http") as clear, served(reader, "http --tls") as hidden:
        done = steelyard.run(
            "versus", f"http://{clear}/", f"https://{hidden}/", "-c", "2", "--margin", "90%",
            "--budget", "5s", "--", "--insecure",
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
