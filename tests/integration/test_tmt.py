"""The test for tmt, as tmt starts it, and by tmt itself where it is installed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from steelyard.errors import ExitCode
from tests.integration.conftest import LONGEST_S, Steelyard

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "templates" / "tmt"
YAMLS = YAML(typ="safe", pure=True)
METADATA: dict[str, Any] = YAMLS.load(FOLDER / "comparison.fmf")

WORKLOAD = """\
summary: Sleeps.
operation: executions
primary: run_time
requires: [sleep]
settings:
  seconds: {kind: word, choices: ["0.01", "0.5"], default: "0.01", meaning: "how long"}
command: [sleep, "{seconds}"]
ends: by itself
"""
STUDY = """\
study: sleeping
question: Does the longer sleep take longer?
systems:
  here: {platform: native}
workload: {use: program, seconds: ["0.01", "0.5"]}
compare: workload.seconds
trials: {margin: 20 %, budget: {time: 5 min}}
"""
# BeakerLib is in no package of Debian: what it would be called with is recorded instead.
RECORDED = """\
called() { (IFS=$'\\t'; printf '%s\\n' "$*") >>"$BEAKERLIB_DIR/calls"; }
for name in rlJournalStart rlJournalEnd rlPhaseStartSetup rlPhaseStartTest rlPhaseEnd \\
  rlLog rlLogWarning rlPass rlFail; do
  eval "$name() { called $name \\"\\$@\\"; }"
done
"""


@pytest.fixture
def tree(steelyard: Steelyard) -> Path:
    """A tree of fmf with a plan, a study and the test."""
    folder = steelyard.folder / "tree"
    for path, text in {
        ".fmf/version": "1\n",
        "plan.fmf": (FOLDER / "plan.fmf").read_text(encoding="utf-8"),
        "study.yaml": STUDY,
        "workloads/program.yaml": WORKLOAD,
    }.items():
        (folder / path).parent.mkdir(exist_ok=True, parents=True)
        (folder / path).write_text(text, encoding="utf-8")
    for name in ("comparison.fmf", "comparison.sh"):
        shutil.copy(FOLDER / name, folder / name)
    return folder


def command(folder: Path, script: str) -> str:
    """A ``steelyard`` for the path; the path with it."""
    program = folder / "bin" / "steelyard"
    program.parent.mkdir(exist_ok=True)
    program.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    program.chmod(0o755)
    return f"{program.parent}:{os.environ['PATH']}"


def real(folder: Path) -> str:
    return command(folder, f'exec {sys.executable} -m steelyard "$@"')


def as_tmt_does(steelyard: Steelyard, tree: Path, path: str, **own: str) -> Path:
    """Runs the script in its folder with the variables that tmt sets; its data folder."""
    data = steelyard.folder / "data"
    data.mkdir()
    settings = {name: str(value) for name, value in METADATA["environment"].items()}
    given = {"PATH": path, "TMT_TREE": str(tree), "TMT_TEST_DATA": str(data)}
    own = {"TMT_TEST_NAME": "/comparison", "BEAKERLIB": str(steelyard.folder / "none")} | own
    subprocess.run(
        ["bash", "-c", METADATA["test"]],
        cwd=tree,
        env={**steelyard.environment, **settings, **given, **own},
        stdin=subprocess.DEVNULL,
        timeout=LONGEST_S,
        check=False,
    )
    return data


def results(data: Path) -> list[dict[str, Any]]:
    found = YAMLS.load(data / "results.yaml")
    assert isinstance(found, list)
    return found


REPORT = r"""
while [ "$1" != --to ]; do shift; [ $# -gt 0 ] || exit 0; done
printf -- '- name: /a\n  result: warn\n  note: ["b"]\n  log: []\n' >"$2/results.yaml"
printf 'warn\tundecided\ta\tb\n' >"$2/results.tsv"
"""
REPORTED = {ExitCode.DONE, ExitCode.TRIALS_FAILED, ExitCode.VERDICT_NOT_MET}
"""Codes with which the report says all that there is to say."""


@pytest.mark.parametrize("code", list(ExitCode))
def test_an_exit_code_is_an_error_unless_the_report_says_what_it_means(
    steelyard: Steelyard, tree: Path, code: ExitCode
) -> None:
    said = 'error: \\"no\\" \\\\ room'
    path = command(steelyard.folder, f'{REPORT}\necho "{said}" >&2\nexit {int(code)}')
    found = [each["result"] for each in results(as_tmt_does(steelyard, tree, path))]
    assert found == ["warn"] + ["error"] * (code not in REPORTED)


def test_a_study_that_is_wrong_is_an_error_that_says_why(steelyard: Steelyard, tree: Path) -> None:
    (tree / "study.yaml").write_text("study: [\n", encoding="utf-8")
    (only,) = results(as_tmt_does(steelyard, tree, real(steelyard.folder)))
    assert (only["name"], only["result"]) == ("/", "error")
    assert "error: " in only["note"][0]


@pytest.mark.parametrize("result", ["warn", "info", "pass", "fail", "e; touch owned"])
def test_what_is_open_has_the_result_that_the_plan_says(
    steelyard: Steelyard, tree: Path, result: str
) -> None:
    path = command(steelyard.folder, REPORT)
    found = results(as_tmt_does(steelyard, tree, path, STEELYARD_OPEN=result))
    assert [each["result"] for each in found] == [result if " " not in result else "warn"]
    assert not [*steelyard.folder.rglob("owned")]


def test_a_setting_is_never_taken_for_a_script(steelyard: Steelyard, tree: Path) -> None:
    hostile = '"; touch owned; $(touch owned) `touch owned`'
    own = dict.fromkeys(("STEELYARD_STUDY", "STEELYARD_VARIANT", "STEELYARD_BUDGET"), hostile)
    (only,) = results(as_tmt_does(steelyard, tree, real(steelyard.folder), **own))
    assert only["result"] == "error"
    assert not [*steelyard.folder.rglob("owned")]


def test_the_journal_has_a_phase_for_each_result_and_the_report_lies_beside_it(
    steelyard: Steelyard, tree: Path
) -> None:
    library = steelyard.folder / "beakerlib.sh"
    library.write_text(RECORDED, encoding="utf-8")
    data = as_tmt_does(
        steelyard, tree, real(steelyard.folder), BEAKERLIB=str(library.parent)
    )  # fmt: skip
    found = results(data)
    assert [each["result"] for each in found] == ["fail", "pass"]
    calls = [line.split("\t") for line in (data / "beakerlib" / "calls").read_text().splitlines()]
    asserted = [call for call in calls if call[0] in {"rlPass", "rlFail"}]
    assert [call[0] for call in asserted] == ["rlPass", "rlFail", "rlPass"]
    assert [call[1] for call in asserted[1:]] == [each["note"][0] for each in found]
    assert [call[0] for call in calls].count("rlPhaseEnd") == 1 + len(found)
    assert (calls[0], calls[-1]) == (["rlJournalStart"], ["rlJournalEnd"])
    assert {"report.html", "report.md", "junit.xml", "findings.json", "bugs.json", "runs"} <= {
        path.name for path in data.iterdir()
    }
    assert [*data.glob("runs/sleeping/*/ledger.jsonl")]
    logs = {log for each in found for log in each["log"]}
    assert logs
    assert all((data / log).exists() for log in logs)
    assert (data / "bugs.md").read_text(encoding="utf-8").startswith("# 0.5 is slower")


HAS_TMT = shutil.which("tmt") is not None and shutil.which("rsync") is not None
BEAKERLIB = Path(os.environ.get("BEAKERLIB", "/usr/share/beakerlib"))
HAS_BEAKERLIB = (BEAKERLIB / "beakerlib.sh").exists()


def run_by_tmt(steelyard: Steelyard, tree: Path, **own: str) -> tuple[int, Path]:
    """A run of all steps but those that install packages; its exit code and the data folder."""
    given = {"PATH": real(steelyard.folder), "BEAKERLIB": str(steelyard.folder / "none")}
    given |= {"STEELYARD_LEASE": f"{steelyard.folder}.lease"} | own
    chosen = [word for name, value in given.items() for word in ("-e", f"{name}={value}")]
    steps = ["discover", "provision", "--how", "local", "execute", "report"]
    work = steelyard.folder / "work"
    done = subprocess.run(
        ["tmt", "--feeling-safe", "run", "--id", str(work), *chosen, *steps],
        cwd=tree,
        env=steelyard.environment,
        stdin=subprocess.DEVNULL,
        timeout=LONGEST_S,
        check=False,
    )
    (data,) = work.glob("plan/execute/data/guest/*/comparison-1/data")
    return done.returncode, data


@pytest.mark.skipif(not HAS_TMT, reason="tmt and rsync are not installed")
def test_tmt_takes_the_results_and_fails_where_a_system_is_slower(
    steelyard: Steelyard, tree: Path
) -> None:
    code, data = run_by_tmt(steelyard, tree)
    assert code == 1
    taken = YAMLS.load(data.parents[4] / "results.yaml")
    assert [(each["name"].rpartition("/")[2], each["result"]) for each in taken] == [
        (each["name"].removeprefix("/"), each["result"]) for each in results(data)
    ]
    assert [each["result"] for each in taken] == ["fail", "pass"]


@pytest.mark.skipif(not HAS_TMT, reason="tmt and rsync are not installed")
def test_tmt_ends_with_an_error_where_nothing_was_measured(
    steelyard: Steelyard, tree: Path
) -> None:
    code, data = run_by_tmt(steelyard, tree, STEELYARD_STUDY="none.yaml")
    assert code == 2
    assert [each["result"] for each in results(data)] == ["error"]


@pytest.mark.skipif(not HAS_BEAKERLIB, reason="BeakerLib is not installed")
def test_beakerlib_writes_its_own_journal(steelyard: Steelyard, tree: Path) -> None:
    path = real(steelyard.folder)
    data = as_tmt_does(steelyard, tree, path, BEAKERLIB=str(BEAKERLIB))
    journal = ET.parse(data / "beakerlib" / "journal.xml")  # noqa: S314 - of BeakerLib
    phases = [each.get("name") for each in journal.iter("phase")]
    assert len(phases) == 1 + len(results(data))
    assert [each.get("result") for each in journal.iter("phase")][1:] == ["FAIL", "PASS"]


def test_the_plan_of_the_guide_names_what_is_there() -> None:
    guide = (ROOT / "docs" / "guide" / "gate-a-release.md").read_text(encoding="utf-8")
    blocks = map(YAMLS.load, re.findall(r"```yaml\n(.*?)```", guide, re.DOTALL))
    (plan,) = (block for block in blocks if "discover" in block)
    folder = ROOT / plan["discover"]["path"].removeprefix("/")
    assert (folder / ".fmf" / "version").exists()
    assert (folder / f"{plan['discover']['test'].removeprefix('/')}.fmf").exists()
    assert set(plan["environment"]) <= set(METADATA["environment"])


def test_the_metadata_set_every_variable_that_the_script_reads() -> None:
    script = (FOLDER / "comparison.sh").read_text(encoding="utf-8")
    assert set(re.findall(r"STEELYARD_[A-Z]+", script)) == set(METADATA["environment"])
    assert METADATA["result"] == "custom"
    assert os.access(FOLDER / "comparison.sh", os.X_OK)
