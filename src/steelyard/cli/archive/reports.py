"""The reports of many runs: made here or on the workers of a cluster, and each written here."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from steelyard.cli.archive.reading import chosen_formats, writing
from steelyard.cli.console import print_error, say, shown
from steelyard.cluster import opened
from steelyard.errors import ExitCode, SteelyardError
from steelyard.records.archive import open_run
from steelyard.report.formats.registry import FORMATS, write_files
from steelyard.report.kept import SAID
from steelyard.report.made import Source, made


def write_reports(paths: Sequence[Path], formats: str, cluster: str | None) -> int:
    """Writes each into the folder of its run, or beside its findings; one that has none is named,
    and the others follow.

    Raises:
        RecordError: a path is no run; nothing was written.
        HostError: no cluster answers, or a folder cannot be written to.
    """
    chosen = chosen_formats(formats)
    sources = [path if path.is_file() else open_run(path) for path in paths]
    code = ExitCode.DONE
    with opened(cluster) as mapped:
        each = mapped(partial(made, formats=chosen), sources)
        for source, report in zip(sources, each, strict=True):
            if isinstance(report, SteelyardError):
                print_error(report)
                code = report.exit_code
                continue
            name, folder = _place(source)
            with writing(folder):
                write_files(folder, report.files, beside_records=not isinstance(source, Path))
            first = shown(folder / FORMATS[chosen[0]].file)
            say(f"{name}: {', '.join(report.words) or 'no verdict'}: {first}")
            if report.before:
                say(f"  {SAID}")
    return code


def _place(source: Source) -> tuple[str, Path]:
    """The name of a report, and the folder it is written to."""
    if isinstance(source, Path):
        return shown(source), source.parent
    return source.key, source.report_path
