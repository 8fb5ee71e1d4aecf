"""A commitment is written before a run, and a run that it does not fit does not begin."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from steelyard.cli.main import app
from steelyard.cli.planning.committing import read_commitment, refuse_another_plan
from steelyard.cli.planning.plan import plan_study
from steelyard.errors import RecordError
from steelyard.records.commitment import commit

QUICKSTART = Path(__file__).parents[2] / "studies" / "quickstart" / "study.yaml"


@pytest.fixture
def study(tmp_path: Path) -> Path:
    return Path(shutil.copy(QUICKSTART, tmp_path / "study.yaml"))


def steelyard(*words: str | Path) -> Result:
    return CliRunner().invoke(app, [*map(str, words)], env={"NO_COLOR": "1"})


def test_plan_writes_a_commitment_for_its_owner_alone_and_prints_its_digest(
    study: Path, tmp_path: Path
) -> None:
    done = steelyard("plan", study, "--commit", tmp_path / "made", "--json")
    assert done.exit_code == 0, done.output
    made = read_commitment(tmp_path / "made", None)
    assert made.digest in done.stderr
    assert (tmp_path / "made").stat().st_mode & 0o777 == 0o600
    assert made.seed == json.loads(done.stdout)["seed"]
    read, planned = plan_study(study, None, made.seed)
    refuse_another_plan(made, read.sha256, planned)


def test_a_commitment_is_never_overwritten(study: Path, tmp_path: Path) -> None:
    (tmp_path / "made").write_text("kept")
    assert steelyard("plan", study, "--commit", tmp_path / "made").exit_code == 3
    assert (tmp_path / "made").read_text() == "kept"


@pytest.mark.parametrize("change", ["study", "budget"])
def test_a_run_of_another_study_or_budget_does_not_begin(
    study: Path, tmp_path: Path, change: str
) -> None:
    steelyard("plan", study, "--commit", tmp_path / "made")
    more = ["--budget", "2min"] if change == "budget" else []
    if change == "study":
        study.write_text(study.read_text("utf-8") + "# another\n", "utf-8")
    results = tmp_path / "results"
    done = steelyard("run", study, "--commitment", tmp_path / "made", "--results", results, *more)
    assert done.exit_code == 3
    assert "#commitment-does-not-fit" in done.stderr
    assert not results.exists()


def test_another_seed_and_a_file_that_is_none_are_refused(study: Path, tmp_path: Path) -> None:
    read, planned = plan_study(study, None, 5)
    (tmp_path / "made").write_bytes(commit(read.sha256, planned).stored())
    with pytest.raises(typer.BadParameter):
        read_commitment(tmp_path / "made", 6)
    with pytest.raises(typer.BadParameter):
        read_commitment(tmp_path / "nothing", None)
    with pytest.raises(RecordError):
        read_commitment(study, None)
