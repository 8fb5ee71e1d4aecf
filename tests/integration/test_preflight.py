"""What keeps a system from coming up is said before the first trial, not when its turn comes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.integration.conftest import Steelyard

STUDY = """\
study: foreseen
question: Which of two places computes faster?
systems:
  machine: {platform: native}
  place: {PLACE}
baseline: machine
workload: {use: linpack}
trials: {margin: 20 %, budget: {trials: 40}}
"""

RECIPE = "summary: Never built.\nkind: guest\ninit: engine\nvariant: essential\n"


@pytest.mark.parametrize(
    ("place", "missing", "hint"),
    [
        (
            "{platform: podman, image: ./mine.yaml}",
            "has not been built of its present recipe",
            "steelyard image build",
        ),
        (
            "{platform: qemu, image: ./mine.yaml}",
            "has not been built of its present recipe",
            "steelyard image build",
        ),
        ("{platform: nspawn, image: /nowhere/root.tar}", "no file /nowhere/root.tar", "a tar"),
    ],
    ids=["podman", "qemu", "nspawn"],
)
def test_an_image_that_is_missing_is_reported_before_any_trial(
    steelyard: Steelyard, place: str, missing: str, hint: str
) -> None:
    text = STUDY.replace("{PLACE}", place)
    (steelyard.folder / "study.yaml").write_text(text, encoding="utf-8")
    (steelyard.folder / "mine.yaml").write_text(RECIPE, encoding="utf-8")
    done = steelyard.run("run", ".")
    assert done.returncode == 3, done.stderr
    assert missing in done.stderr
    assert hint in done.stderr
    assert events(steelyard.folder).isdisjoint({"attempt_started", "generator_calibrated"})


def events(folder: Path) -> set[str]:
    """The events in the ledger of the only run."""
    (ledger,) = folder.glob("results/foreseen/*/ledger.jsonl")
    return {json.loads(line)["event"] for line in ledger.read_text().splitlines()}
