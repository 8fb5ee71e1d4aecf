"""One file of all that was found: findings for ``docs/examples``, and the packed runs."""

from __future__ import annotations

import tarfile
import tempfile
from collections.abc import Mapping
from pathlib import Path

from bench.published.series import Commands

from steelyard.records.archive import Run
from steelyard.report.from_run import stored
from steelyard.report.sentences.headline import headline

EXAMPLES, RUNS = "examples", "runs"


def archived(runs: Mapping[str, Run], archive: Path, commands: Commands) -> dict[str, str]:
    """Packs finished runs, by the names of their examples, into one archive; their answers.

    ``examples/`` names no machine and has the folders of ``docs/examples``. ``runs/`` holds all
    that was recorded, names of machines included. What cannot be reported has no answer.

    Raises:
        KeyboardInterrupt: a signal asked to stop; an earlier archive stays.
    """
    archive.parent.mkdir(parents=True, exist_ok=True)
    answers = {}
    with tempfile.TemporaryDirectory(dir=archive.parent, prefix=".archive-") as staged:
        examples = Path(staged) / EXAMPLES
        examples.mkdir()
        for name, run in runs.items():
            commands.run("compact", str(run.path), is_shown=False)
            findings = _reported(run, examples / name, commands)
            if findings.is_file():
                found = headline(stored(findings))
                answers[name] = f"{found.badge}: {found.text}"
        whole = Path(staged) / archive.name
        with tarfile.open(whole, "w:gz") as tar:
            tar.add(examples, EXAMPLES)
            for run in runs.values():
                tar.add(run.path, f"{RUNS}/{run.key}")
        whole.replace(archive)
    return answers


def _reported(run: Run, folder: Path, commands: Commands) -> Path:
    """Where its findings are: of several machines, whose names are conditions, with the run."""
    anonymous = () if run.has_machines else ("--anonymous", "--to", str(folder))
    forms = ("--format", "json,md")
    commands.run("report", str(run.path), *anonymous, *forms, is_shown=False)
    return (run.report_path if run.has_machines else folder) / "findings.json"
