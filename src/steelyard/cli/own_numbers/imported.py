"""From files of another tool to the folder of a run and its report."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import typer

import steelyard
from steelyard.cli.archive.reading import chosen_formats, print_answer, write
from steelyard.cli.console import say, say_json, shown, tell
from steelyard.cluster import opened
from steelyard.errors import ExitCode, HostError
from steelyard.imports.assemble import left_out_of, trials_of
from steelyard.imports.findings import refuse_what_is_not_judged
from steelyard.imports.folder import keep
from steelyard.imports.kind import Kind, kind, names
from steelyard.imports.reading import ResultFile, read_file
from steelyard.imports.record import (
    ImportedFile,
    ImportedResponse,
    ImportedTrial,
    ImportRecord,
)
from steelyard.report.figures import counted
from steelyard.report.from_run import find
from steelyard.report.notes.caveats import left_out_text
from steelyard.study.file.complaints import choice_hint
from steelyard.units import UnitError, parse


@dataclass(frozen=True)
class Asked:
    """What the command line says of the files."""

    kind: str
    files: tuple[Path, ...]
    systems: str | None
    baseline: str | None
    margin: str
    response: str | None
    cluster: str | None = None


def list_kinds(*, json: bool) -> int:
    """One line for each kind."""
    if json:
        say_json([{"name": name, "summary": kind(name).summary} for name in names()])
        return ExitCode.DONE
    for name in names():
        say(f"{name:<18} {kind(name).summary}")
    return ExitCode.DONE


def imported(
    asked: Asked, results: Path, formats: str, fail_if: Sequence[str], *, json: bool
) -> int:
    """Reads all files before anything is written; the exit code."""
    if asked.kind not in names():
        raise typer.BadParameter(
            f"there is no kind `{asked.kind}`; {choice_hint(asked.kind, names(), 'kinds')}",
            param_hint="KIND",
        )
    chosen, own = chosen_formats(formats), kind(asked.kind)
    wanted = _systems(asked.systems)
    if not asked.files:
        raise typer.BadParameter("no file is named", param_hint="FILE")
    with opened(asked.cluster) as mapped:
        read = list(mapped(partial(read_file, kind_name=asked.kind, kind=own), asked.files))
    trials = trials_of(read, wanted, own)
    systems = list(dict.fromkeys(wanted))
    measured = _measured(own, trials)
    primary = _chosen(asked.response, measured, "--response", own.primary)
    if asked.response is None and own.primary in own.metrics and primary != own.primary:
        tell(f"no file has {own.primary}, the usual response: {primary} is judged")
    record = ImportRecord(
        tool_version=steelyard.__version__,
        kind=asked.kind,
        question=f"What do files of {asked.kind} say of {', '.join(systems)}?",
        systems=tuple(systems),
        baseline=_chosen(asked.baseline, systems, "--baseline"),
        margin_ratio=_share(asked.margin),
        primary=primary,
        responses=tuple(_responses(own, trials)),
        files=tuple(_kept(file, at) for at, file in enumerate(read, start=1)),
        trials=trials,
        left_out=left_out_of(read, wanted),
    )
    return _finish(record, read, results, chosen, fail_if, json=json)


def _finish(
    record: ImportRecord,
    read: Sequence[ResultFile],
    results: Path,
    formats: tuple[str, ...],
    fail_if: Sequence[str],
    *,
    json: bool,
) -> int:
    refuse_what_is_not_judged(record)
    command = ("steelyard", "import", record.kind, *(str(file.path) for file in read))
    try:
        run = keep(results, record, read, command, time.time_ns())
        findings = find(run)
        paths = write(run, findings, formats)
    except OSError as error:
        raise HostError(
            f"cannot write below {results}: {error.strerror}",
            hint="make room, or name a folder that you may write to with --results",
            slug="cannot-write",
        ) from error
    if json:
        say(findings.model_dump_json(indent=2))
    else:
        _say_what_was_read(record, run.path)
        print_answer(findings, [shown(path) for path in paths])
    words = {verdict.word for verdict in findings.workloads[0].verdicts if not verdict.exploratory}
    return ExitCode.VERDICT_NOT_MET if words & set(fail_if) else ExitCode.DONE


def _say_what_was_read(record: ImportRecord, folder: Path) -> None:
    files, trials = counted(len(record.files), "file"), counted(len(record.trials), "trial")
    say(f"read: {files} of {record.kind}, {trials}")
    if record.left_out:
        say(f"left out, of systems that were not named: {left_out_text(record.left_out)}")
    for each in record.responses:
        say(f"  {each.name}, {each.label}, in {each.unit}")
    say(f"run: {shown(folder)}")
    say()


def _systems(written: str | None) -> list[str]:
    key, _, names_ = (written or "").partition("=")
    found = [name.strip() for name in names_.split(",")]
    if key != "system" or not all(found) or len(set(found)) < 2:
        raise typer.BadParameter("name two systems or more, as `system=old,new`", param_hint="--as")
    return found


def _chosen(asked: str | None, known: Sequence[str], option: str, usual: str | None = None) -> str:
    found = asked or (usual if usual is not None and usual in known else known[0])
    if found not in known:
        raise typer.BadParameter(
            f"there is no `{found}`; {choice_hint(found, known, 'there are')}", param_hint=option
        )
    return found


def _measured(own: Kind, trials: Sequence[ImportedTrial]) -> list[str]:
    return [name for name in own.metrics if any(name in trial.values for trial in trials)]


def _responses(own: Kind, trials: Sequence[ImportedTrial]) -> list[ImportedResponse]:
    found = [(name, own.response(name)) for name in _measured(own, trials)]
    return [
        ImportedResponse(
            name=name,
            label=each.label,
            unit=each.unit,
            direction=each.direction,
            may_be_zero=each.may_be_zero,
        )
        for name, each in found
    ]


def _kept(file: ResultFile, at: int) -> ImportedFile:
    return ImportedFile(
        name=file.path.name,
        kept_as=f"{at:03d}-{file.path.name}",
        sha256=file.sha256,
        version=file.version,
    )


def _share(margin: str) -> float:
    try:
        found = float(parse(margin, "share"))
    except UnitError as error:
        raise typer.BadParameter(f"{error.message}; {error.hint}", param_hint="--margin") from error
    if not 0 < found <= 1:
        raise typer.BadParameter("a share above 0 and at most 100 %", param_hint="--margin")
    return found
