"""A workload of the catalogue outside of a trial: its words, and what comes of its output."""

from __future__ import annotations

from steelyard.imports.metrics import read_metrics
from steelyard.records.schema import Measured
from steelyard.study import catalogue
from steelyard.study.declared import responses as declared
from steelyard.study.declared.setting import Settings, SettingValue
from steelyard.study.declared.value import defaults_of
from steelyard.workloads.tools.values import command_words, tool_values


def words_alone(use: str, chosen: Settings) -> list[str]:
    """The command of a workload without placeholders, with the settings that are not chosen."""
    entry, settings = catalogue.workload(use), _settings(use, chosen)
    return command_words(entry.command, entry, settings, tool_values(entry, settings, {}))


def measured_alone(use: str, chosen: Settings, stdout: str) -> dict[str, Measured]:
    """Every metric in what such a command printed.

    Raises:
        OutputError: the output cannot be parsed.
    """
    entry, settings = catalogue.workload(use), _settings(use, chosen)
    values = tool_values(entry, settings, {})
    return read_metrics(entry, settings, values, {"stdout": stdout}, declared.responses())


def _settings(use: str, chosen: Settings) -> dict[str, SettingValue]:
    declared = catalogue.workload(use).settings
    return defaults_of(declared) | dict(chosen)
