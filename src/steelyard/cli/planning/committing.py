"""A commitment to study, plan and seed: written by ``plan``, used by ``run``, printed by both."""

from __future__ import annotations

import hashlib
from pathlib import Path

import typer

from steelyard.cli.console import command, tell
from steelyard.errors import HostError, RecordError
from steelyard.plan.model import Plan
from steelyard.records.archive import Run
from steelyard.records.commitment import Commitment, commit, commitment_of, plan_bytes
from steelyard.records.files.durable import write_file


def write_commitment(path: Path, study_sha256: str, plan: Plan) -> None:
    """Writes a new one, for its owner's eyes alone: who reads it knows the order.

    Raises:
        HostError: the file is there already, or cannot be written.
    """
    made = commit(study_sha256, plan)
    try:
        write_file(path, made.stored())
    except FileExistsError as error:
        raise HostError(
            f"{path} is there already",
            hint="name another file: a commitment that was posted must not be lost",
            slug="file-exists",
        ) from error
    except OSError as error:
        raise HostError(
            f"cannot write {path}: {error.strerror}",
            hint="name a file in a folder that you may write to",
            slug="cannot-write",
        ) from error
    tell(f"commitment: {made.digest}")
    tell(f"post the digest, keep the file secret, then: {command('run --commitment', path)}")


def read_commitment(path: Path, seed: int | None) -> Commitment:
    """That of a file.

    Raises:
        RecordError: it holds none.
        typer.BadParameter: it cannot be read, or another seed is asked for.
    """
    try:
        found = commitment_of(path.read_bytes(), path)
    except OSError as error:
        raise typer.BadParameter(
            f"{path} cannot be read: {error.strerror}", param_hint="--commitment"
        ) from error
    if seed not in (None, found.seed):
        raise typer.BadParameter("the commitment has another seed", param_hint="--seed")
    return found


def refuse_another_plan(made: Commitment, study_sha256: str, plan: Plan) -> None:
    """Before anything has started.

    Raises:
        RecordError: the study, or what was planned from it, is not what was committed to.
    """
    if made.study_sha256 != study_sha256:
        differs = "the study file is not the one"
    elif made.plan_sha256 != hashlib.sha256(plan_bytes(plan)).hexdigest():
        differs = "the plan is not the one"
    else:
        return
    raise RecordError(
        f"{differs} that was committed to; nothing was started",
        hint="give the same study file, --variant and --budget as to `steelyard plan --commit`, "
        "with the same version of steelyard; or commit again",
        slug="commitment-does-not-fit",
    )


def tell_commitment(run: Run) -> None:
    """The digest, before the first trial; of several machines after the name of its own."""
    made, machine = run.commitment(), run.facts().machine
    if made is not None:
        tell(f"{'' if machine is None else f'{machine}: '}commitment: {made.digest}")
