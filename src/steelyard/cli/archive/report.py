"""``steelyard report`` and ``steelyard compare``: from the records alone, on any machine.

A report can also be made of a ``findings.json``, where the records are no longer at hand.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from steelyard.cli.console import say, say_json, shown, tell
from steelyard.cli.options import ClusterOption, FormatOption, JsonOption


def report(  # noqa: PLR0917 - typer reads options from the parameters
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN...",
            help="Folder of a run, or of a study's runs: the newest. Or a findings.json. Of many, "
            "each is written beside its run or its findings.",
            show_default=False,
        ),
    ],
    formats: FormatOption = "html",
    to: Annotated[
        Path | None,
        typer.Option("--to", help="Write into this folder instead of the run's own."),
    ] = None,
    notes: Annotated[
        Path | None,
        typer.Option(
            "--notes", help="Folder with the author's notes, instead of those kept with the run."
        ),
    ] = None,
    anonymous: Annotated[
        bool,
        typer.Option(
            "--anonymous",
            help="For publication: without host names, paths and addresses of the machines. "
            "Needs --to, as the records beside a report still hold them.",
        ),
    ] = False,
    cluster: ClusterOption = None,
    json: JsonOption = False,
) -> int | None:
    """Write the report of a run again and print its verdicts."""
    if len(paths) > 1 or cluster is not None:
        if to is not None or notes is not None or anonymous or json:
            raise typer.BadParameter("--to, --notes, --anonymous and --json are of one run")
        from steelyard.cli.archive.reports import write_reports

        return write_reports(paths, formats, cluster)
    (path,) = paths
    if path.is_file() and (notes is not None or anonymous):
        raise typer.BadParameter("--notes and --anonymous need the folder of a run, not findings")
    if anonymous and to is None:
        raise typer.BadParameter("--anonymous needs --to FOLDER: the run's own holds the records")
    _report_of_one(path, formats, to, notes, anonymous=anonymous, json=json)
    return None


def _report_of_one(
    path: Path, formats: str, to: Path | None, notes: Path | None, *, anonymous: bool, json: bool
) -> None:
    from steelyard.cli.archive.reading import chosen_formats, print_answer, write_into
    from steelyard.records.archive import open_run, refuse_names_of_machines
    from steelyard.report.anonymous import anonymous_of
    from steelyard.report.from_run import stored
    from steelyard.report.kept import SAID, Found, found

    chosen = chosen_formats(formats)
    run = None if path.is_file() else open_run(path)
    if run is not None and anonymous:
        refuse_names_of_machines(run)
    seen = Found(stored(path), None) if run is None else found(run, notes)
    findings = seen.findings
    if run is not None and anonymous:
        findings = anonymous_of(findings, run.records())
    folder = to or (path.parent if run is None else run.report_path)
    own = run is not None and to is None
    written = write_into(folder, findings, chosen, own=own, made_of=seen.made_of if own else None)
    if json:
        say(findings.model_dump_json(indent=2))
    else:
        print_answer(findings, [shown(each) for each in written])
    if seen.before:
        tell(SAID) if json else say(SAID)


def compare(
    first: Annotated[Path, typer.Argument(help="Folder of a run.", show_default=False)],
    second: Annotated[Path, typer.Argument(help="Folder of another run.", show_default=False)],
    json: JsonOption = False,
) -> None:
    """Put the verdicts of two runs side by side; says where they agree and what differs."""
    from steelyard.history.point import point_of
    from steelyard.records.archive import open_run
    from steelyard.report.compare import compare_lines, compared_data
    from steelyard.report.from_run import find
    from steelyard.web.machines import machine_lines

    one, other = open_run(first), open_run(second)
    found, beside = find(one), find(other)
    pairs = ((one, found), (other, beside))
    machines = [*machine_lines(*(point_of(run.facts(), own, run.records()) for run, own in pairs))]
    if json:
        say_json(compared_data(found, beside, machines))
        return
    for line in compare_lines(found, beside, machines):
        say(line)
