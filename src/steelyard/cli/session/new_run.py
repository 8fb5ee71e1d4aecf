"""The folder of a new run: the study as it was read, its own files, and the plan."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

import steelyard
from steelyard.errors import HostError
from steelyard.plan.model import Plan
from steelyard.records.archive import Run, RunFacts, in_full
from steelyard.records.commitment import Commitment
from steelyard.records.creation import create_machines, create_run
from steelyard.records.deletion import delete_whole
from steelyard.records.own_files.author_notes import kept_notes
from steelyard.study.declared.tuned_profiles import own_texts as own_profiles
from steelyard.study.lookup import own_texts
from steelyard.study.model import Study


def new_run(
    path: Path, study: Study, plan: Plan, results: Path, commitment: Commitment | None = None
) -> Run:
    """Makes it below ``results``, for the study that was read from ``path``.

    ``commitment`` is one that was made before; otherwise the run gets one of its own.

    Raises:
        HostError: ``results`` cannot be written.
    """

    def made(facts: RunFacts, text: bytes, own: dict[str, str]) -> Run:
        return create_run(results, facts, text, plan, own, commitment)

    return _made(path, study, plan.seed, results, made)


def new_machines_run(
    path: Path, study: Study, plans: Mapping[str, Plan], seed: int, results: Path
) -> Run:
    """The same of a study on several machines; ``seed`` is what theirs were drawn from."""

    def made(facts: RunFacts, text: bytes, own: dict[str, str]) -> Run:
        return create_machines(results, facts, text, plans, own)

    return _made(path, study, seed, results, made)


NOT_FREE = ("machine-is-in-use", "machine-was-left-changed")
"""Why a run could not begin that can begin later, as a new one."""


def discard(run: Run) -> None:
    """Removes a run that keeps nothing, and the folder of its study where it is the only one."""
    delete_whole(run)
    with suppress(OSError):  # it holds others
        run.path.parent.rmdir()


def _made(
    path: Path,
    study: Study,
    seed: int,
    results: Path,
    made: Callable[[RunFacts, bytes, dict[str, str]], Run],
) -> Run:
    file = path / "study.yaml" if path.is_dir() else path
    facts = RunFacts(
        tool_version=steelyard.__version__,
        tool_commit=_commit(),
        study=study.name,
        study_file=str(in_full(file).absolute()),
        study_sha256=study.sha256,
        variant=study.variant,
        machine=study.machine,
        seed=seed,
        created_unix_ns=time.time_ns(),
        command=tuple(sys.argv[1:]),
    )
    try:
        return made(facts, file.read_bytes(), _own_files(study) | _notes(study, file.parent))
    except OSError as error:
        raise HostError(
            f"cannot keep records in {results}: {error.strerror}",
            hint="name a folder that you may write to with --results",
            slug="records-cannot-be-written",
        ) from error


def _commit() -> str | None:
    """Of the checkout that this is, ``-dirty`` behind it if files were changed.

    ``None`` where it is none, as of an installed package, or where git cannot tell.
    """
    root = Path(steelyard.__file__).parents[2]
    if not (root / ".git").exists():
        return None
    ask = ["git", "-C", str(root), "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
    with suppress(OSError, subprocess.SubprocessError):
        told = subprocess.run(ask, capture_output=True, text=True, timeout=10, check=True)
        return told.stdout.strip() or None
    return None


def _own_files(study: Study) -> dict[str, str]:
    """What the study consists of besides its own file, by the path that the run keeps it under."""
    systems = study.systems.values()
    return {
        **own_texts(systems, [*study.workloads.values(), *study.background.values()]),
        **own_profiles(system.profiles for system in systems),
    }


def _notes(study: Study, beside: Path) -> dict[str, str]:
    """The author's notes that are there already; they may be edited in the run's folder."""
    return {} if study.report.notes is None else kept_notes(beside / study.report.notes)
