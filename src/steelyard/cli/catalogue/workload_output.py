"""What ``steelyard workload check`` reads from a recorded output."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import typer

from steelyard import units
from steelyard.errors import HostError
from steelyard.imports.metrics import OutputError, read_metrics
from steelyard.records.missing import Reason
from steelyard.records.schema import Measured
from steelyard.report.figures import quantity
from steelyard.report.notes.missing import missing_text
from steelyard.study.declared import responses as declared
from steelyard.study.declared.setting import Settings
from steelyard.study.declared.value import defaults_of, read_value
from steelyard.study.file.complaints import choice_hint
from steelyard.study.workload.entry import Workload
from steelyard.study.workload.output_checks import STREAMS
from steelyard.study.workload.placeholders import looks_of
from steelyard.workloads.tools.values import tool_values


def read_output_lines(
    file: str, entry: Workload, outputs: Sequence[str], settings: Sequence[str]
) -> Iterator[str]:
    """One line for each metric in recorded outputs; none without an output.

    Raises:
        HostError: an output cannot be read, or cannot be parsed.
        typer.BadParameter: there is no such output or setting.
    """
    if not outputs:
        return
    chosen = _settings(entry, settings)
    texts = dict(_text(entry, written) for written in outputs)
    unknown = dict.fromkeys(("folder", "mount", "device", "threads", "seed"), "UNKNOWN")
    values = tool_values(entry, chosen, unknown | {"window": 1, "warmup": 1})
    try:
        measured = read_metrics(entry, chosen, values, texts, declared.responses())
    except OutputError as error:
        whys = [f"{name}: {why}" for name, why in error.missing.items()]
        raise HostError(
            f"{file} does not understand this output: {'; '.join(whys)}",
            hint="hold the output against what the file says of it; with several outputs, name "
            "each: --output stderr=FILE",
            slug="output-is-not-parsed",
        ) from error
    width = max((len(name) for name in measured), default=0)
    yield from (f"  {name:<{width}}  {_shown(one)}" for name, one in measured.items())


def _shown(measured: Measured) -> str:
    if measured.value is None:
        return f"missing: {missing_text(measured.missing or Reason(kind='not_measured'))}"
    shown = quantity(measured.value, measured.unit)
    return f"{shown} ({measured.value:.12g} {measured.unit})"


def _settings(entry: Workload, written: Sequence[str]) -> Settings:
    chosen = defaults_of(entry.settings)
    for item in written:
        name, _, value = item.partition("=")
        if name not in entry.settings:
            hint = choice_hint(name, entry.settings, "settings")
            raise typer.BadParameter(f"--set {item}: there is no setting `{name}`; {hint}")
        setting = entry.settings[name]
        plain: object = value == "true" if setting.kind == "flag" else value
        try:
            chosen[name] = read_value(plain, setting)
        except units.UnitError as error:
            message = f"--set {item}: `{name}`: {error.message}; {error.hint}"
            raise typer.BadParameter(message) from error
    return chosen


def _text(entry: Workload, written: str) -> tuple[str, str]:
    sources = (*STREAMS, *entry.writes)
    name, separator, path = written.partition("=")
    if not separator or name not in sources:
        name, path = _only_source(entry), written
    try:
        return name, Path(path).read_text(encoding="utf-8")
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError) as error:
        raise typer.BadParameter(f"--output {written}: there is no file {path}") from error
    except UnicodeDecodeError as error:
        raise _wrong(f"{path} is not text: {error}", "tools are read as UTF-8") from error
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise _wrong(f"{path} cannot be read: {reason}", "check its permissions") from error


def _only_source(entry: Workload) -> str:
    """What the metrics are read from, where all are read from one."""
    tables = {table.source for table in entry.tables.values()}
    read = {look.source for _, look in looks_of(entry) if look.table is None} | tables
    return read.pop() if len(read) == 1 else "stdout"


def _wrong(message: str, hint: str) -> HostError:
    return HostError(message, hint=hint, slug="output-is-not-parsed")
