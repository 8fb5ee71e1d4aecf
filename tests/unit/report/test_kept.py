"""A report is drawn from earlier findings only where these very records gave them."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.unit.several_machines import NAMES, machines_run
from typer.testing import CliRunner, Result

from steelyard.cli.main import app
from steelyard.judge.findings import RunFindings
from steelyard.records.archive import Run
from steelyard.report import kept, origin
from steelyard.report.from_run import find
from steelyard.study.model import Study

KEPT = Path(__file__).parents[2] / "records" / "v2"
FORMS = "html,md,csv,json,junit,openmetrics,bugs,bmf,benchfmt,action,tmt"


def report(*words: str | Path) -> Result:
    done = CliRunner().invoke(app, ["report", *map(str, words)], env={"NO_COLOR": "1"})
    assert done.exit_code == 0, done.output
    return done


def files_of(run: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (run / "report").iterdir()}


@dataclass
class Lab:
    """A run with a report, and how often a run was judged since."""

    path: Path
    judged: int = 0


@pytest.fixture(scope="module")
def reported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = tmp_path_factory.mktemp("kept") / "durable-mail" / "run"
    shutil.copytree(KEPT, run)
    report(run, "--format", FORMS)
    return run


@pytest.fixture(scope="module")
def first(reported: Path) -> RunFindings:
    return find(Run(reported))


@pytest.fixture
def lab(reported: Path, first: RunFindings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    lab = Lab(Path(shutil.copytree(reported, tmp_path / "durable-mail" / "run")))

    def counted(_run: Run, _notes: Path | None = None) -> RunFindings:
        lab.judged += 1
        return first

    monkeypatch.setattr(kept, "find", counted)
    return lab


def test_a_second_report_of_the_same_records_is_drawn_from_the_first_and_says_so(lab: Lab) -> None:
    before = files_of(lab.path)
    (lab.path / "report" / "report.html").unlink()
    done = report(lab.path, "--format", FORMS)
    assert done.stdout.splitlines()[-1] == kept.SAID
    assert (lab.judged, files_of(lab.path)) == (0, before), "in every form, byte for byte"


def test_a_first_report_says_nothing_of_an_earlier_one(lab: Lab) -> None:
    shutil.rmtree(lab.path / "report")
    assert kept.SAID not in report(lab.path, "--format", "md").stdout
    assert lab.judged == 1


def test_beside_a_document_it_is_said_apart(lab: Lab) -> None:
    done = report(lab.path, "--format", "md", "--json")
    assert kept.SAID not in done.stdout
    assert kept.SAID in done.stderr


def test_of_many_runs_it_is_said_of_each(lab: Lab) -> None:
    assert report(lab.path, lab.path, "--format", "md").stdout.count(kept.SAID) == 2


def flip(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[:-9] + bytes([data[-9] ^ 1]) + data[-8:])


def swap(run: Path) -> None:
    one, other = (run / "trials" / name / "record.json" for name in ("0001-1", "0002-1"))
    data = one.read_bytes()
    one.write_bytes(other.read_bytes())
    other.write_bytes(data)


def grow(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"\n")


def link(path: Path) -> None:
    path.rename(path.parents[3] / path.name)
    path.symlink_to(path.parents[3] / path.name)


CHANGES: dict[str, Callable[[Path], object]] = {
    "flipped record": lambda run: flip(run / "trials" / "0003-1" / "record.json"),
    "flipped samples": lambda run: flip(next(run.glob("trials/0001-1/samples*"))),
    "cut load": lambda run: (run / "trials" / "0003-1" / "load.json").write_bytes(b"{"),
    "missing attempt": lambda run: shutil.rmtree(run / "trials" / "0003-1"),
    "added attempt": lambda run: shutil.copytree(run / "trials/0003-1", run / "trials/0003-2"),
    "empty folder": lambda run: (run / "trials" / "0099-1").mkdir(),
    "swapped records": swap,
    "run that goes on": lambda run: grow(run / "ledger.jsonl"),
    "plan": lambda run: grow(run / "plan.json"),
    "study": lambda run: grow(run / "study.yaml"),
    "facts": lambda run: grow(run / "run.json"),
    "note": lambda run: [(run / "notes").mkdir(), (run / "notes" / "fast.md").write_text("So.")],
    "another name": lambda run: run.rename(run.with_name("run-2")),
    "link out of the run": lambda run: link(run / "trials" / "0003-1"),
    "changed findings": lambda run: flip(run / "report" / "findings.json"),
    "no origin": lambda run: (run / "report" / kept.ORIGIN).unlink(),
    "no findings": lambda run: (run / "report" / "findings.json").unlink(),
}  # fmt: skip


@pytest.mark.parametrize("change", CHANGES)
def test_whatever_has_changed_is_judged_again(lab: Lab, change: str) -> None:
    CHANGES[change](lab.path)
    (run,) = lab.path.parent.iterdir()
    done = report(run, "--format", "md")
    assert (lab.judged, kept.SAID in done.stdout) == (1, False)


def test_findings_that_were_not_renewed_stay_unknown(lab: Lab) -> None:
    grow(lab.path / "ledger.jsonl")
    for judged in (1, 2):
        report(lab.path, "--format", "md")
        assert lab.judged == judged
    report(lab.path)
    report(lab.path)
    assert lab.judged == 3


def test_another_program_judges_again(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(origin, "_program", lambda: "another")
    monkeypatch.setattr(origin, "_LOADED", "another")
    report(lab.path, "--format", "md")
    assert lab.judged == 1


def test_a_program_that_was_replaced_after_it_was_loaded_keeps_nothing(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(origin, "_program", lambda: "another")
    (lab.path / "report" / kept.ORIGIN).unlink()
    for judged in (1, 2):
        report(lab.path)
        assert lab.judged == judged
    assert not (lab.path / "report" / kept.ORIGIN).exists()


def test_the_program_is_all_of_its_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = Path(shutil.copytree(Path(origin.__file__).parents[1] / "report", tmp_path / "one"))
    (package / "__init__.py").touch()
    monkeypatch.setattr("steelyard.__file__", str(package / "__init__.py"))
    before = origin._program()
    assert before is not None
    assert origin._program() == before
    grow(package / "notes" / "stop.py")
    assert origin._program() not in {None, before}
    (package / "more.py").symlink_to(package / "text.py")
    assert origin._program() is None


def test_notes_from_elsewhere_are_judged_with(lab: Lab, tmp_path: Path) -> None:
    (tmp_path / "words").mkdir()
    report(lab.path, "--format", "md", "--notes", tmp_path / "words")
    assert lab.judged == 1


def test_a_file_of_the_study_outside_of_the_run_counts(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, read = origin.made_of(Run(lab.path)), origin.read_study

    def changed(path: Path, **named: str | None) -> Study:
        """``sha256`` is of the file and of the texts of all files that it names."""
        return read(path, **named).model_copy(update={"sha256": "0" * 64})

    monkeypatch.setattr(origin, "read_study", changed)
    assert origin.made_of(Run(lab.path)) not in {None, before}


def test_what_changes_while_it_is_judged_is_not_kept(
    lab: Lab, first: RunFindings, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.rmtree(lab.path / "report")

    def goes_on(run: Run, _notes: Path | None = None) -> RunFindings:
        grow(run.ledger_path)
        return first

    monkeypatch.setattr(kept, "find", goes_on)
    report(lab.path)
    assert (lab.path / "report" / "findings.json").is_file()
    assert not (lab.path / "report" / kept.ORIGIN).exists()


def test_a_report_elsewhere_is_drawn_from_them_and_gets_no_origin(lab: Lab, tmp_path: Path) -> None:
    report(lab.path, "--to", tmp_path / "out")
    assert lab.judged == 0
    assert not (tmp_path / "out" / kept.ORIGIN).exists()


def test_of_several_machines_the_records_of_each_count_and_their_reports_do_not(
    tmp_path: Path,
) -> None:
    run = machines_run(tmp_path / "results")
    report(run.path, "--format", FORMS)
    first = files_of(run.path)
    part = run.machines()[NAMES[1]]
    assert kept.SAID not in report(part.path, "--format", "json").stdout
    assert kept.SAID in report(run.path, "--format", FORMS).stdout
    assert files_of(run.path) == first
    before = origin.made_of(run)
    grow(next(part.path.glob("trials/*/record.json")))
    assert origin.made_of(run) != before
