"""kill -9 of the controller at any instant, then resume: nothing lost, repeated or left over."""

from __future__ import annotations

import hashlib
import random
import signal
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from steelyard.records.archive import Run, open_run
from steelyard.records.schema import Outcome
from tests.integration.conftest import Steelyard, first_in_every_run

KILLS_IN_A_CHAIN = 5
CHAINS_IN_EVERY_RUN = 2
CHAINS_ON_DEMAND = 40
LONGEST_LIFE_S = 3.0


def chain_seed(chain: int) -> int:
    """From the name of the case, never chosen."""
    return int.from_bytes(hashlib.sha256(f"kill chain {chain}".encode()).digest()[:8], "big")


def finished_trials(run: Run) -> dict[str, bytes]:
    """Every good record by its folder, byte for byte."""
    good = [r for r in run.records() if r.outcome is Outcome.OK]
    folders = [run.path / "trials" / f"{r.trial:04d}-{r.attempt}" for r in good]
    return {folder.name: (folder / "record.json").read_bytes() for folder in folders}


def let_live(process: subprocess.Popen[str], life_s: float) -> None:
    """Kills the controller after its time; it may have ended by itself before."""
    try:
        process.communicate(timeout=life_s)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        process.communicate()


def newest_run(folder: Path) -> Run | None:
    study = folder / "results" / "tiny"
    runs = [p for p in study.glob("[!.]*") if (p / "run.json").exists()] if study.is_dir() else []
    return Run(runs[0]) if runs else None


def check_chain(steelyard: Steelyard, chain: int) -> None:
    instants = random.Random(chain_seed(chain))
    before: dict[str, bytes] = {}
    for _ in range(KILLS_IN_A_CHAIN):
        run = newest_run(steelyard.folder)
        words = ["run", "."] if run is None else ["resume", str(run.path)]
        let_live(steelyard.start(*words), instants.uniform(0.0, LONGEST_LIFE_S))
        assert steelyard.wait_until_no_process() == []
        run = newest_run(steelyard.folder)
        if run is not None:
            after = finished_trials(run)
            assert before.items() <= after.items(), "a finished trial was lost or changed"
            before = after
    check_end(steelyard, before)


def check_end(steelyard: Steelyard, before: dict[str, bytes]) -> None:
    run = newest_run(steelyard.folder)
    done = steelyard.run(*(["run", "."] if run is None else ["resume", str(run.path)]))
    assert done.returncode == 0, done.stderr
    run = open_run(steelyard.folder / "results" / "tiny")
    after = finished_trials(run)
    assert before.items() <= after.items(), "a finished trial was lost or changed"
    assert set(Counter(name.split("-")[0] for name in after).values()) == {1}, "repeated"
    assert not (run.path / "scratch").exists()
    assert not list((run.path / "trials").glob(".new-*"))


@pytest.mark.parametrize("chain", first_in_every_run(range(CHAINS_IN_EVERY_RUN)))
def test_kills_at_random_instants_lose_and_repeat_nothing(steelyard: Steelyard, chain: int) -> None:
    check_chain(steelyard, chain)


@pytest.mark.validate
@pytest.mark.parametrize("chain", range(CHAINS_IN_EVERY_RUN, CHAINS_ON_DEMAND))
def test_many_kills_at_random_instants_lose_and_repeat_nothing(
    steelyard: Steelyard, chain: int
) -> None:
    check_chain(steelyard, chain)
