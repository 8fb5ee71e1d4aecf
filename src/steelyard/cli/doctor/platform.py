"""``steelyard doctor --platform X``: whether a platform keeps its promises on this machine."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import typer

from steelyard.cli.console import say
from steelyard.errors import ExitCode
from steelyard.hosts.machines import LOCAL, open_machine
from steelyard.study import catalogue
from steelyard.study.catalogue import Platform
from steelyard.study.declared.setting import Setting, SettingValue
from steelyard.study.declared.value import defaults_of, read_value
from steelyard.study.file.complaints import choice_hint
from steelyard.study.lookup import PLATFORM_FILES
from steelyard.study.platform.placeholders import required_settings
from steelyard.study.reference import UNVERIFIED
from steelyard.systems.command_line.platform import CommandLinePlatform
from steelyard.systems.conformance.bench import Bench, Make
from steelyard.systems.conformance.finding import Finding
from steelyard.systems.conformance.session import sit
from steelyard.systems.platforms import PLATFORMS
from steelyard.units import UnitError

MARKS = {"good": "ok  ", "note": "note", "bad": "FAIL"}


def examine(platform: str, written: Sequence[str]) -> int:
    """Runs every check of the contract with the settings given as ``KEY=VALUE``.

    Raises:
        StudyError: ``platform`` is a file of the user's own, and wrong.
        typer.BadParameter: there is no such platform, or a setting is wrong.
    """
    make, declared = _named(platform)
    settings = read_pairs(written, declared.settings)
    for key in required_settings(declared):
        if key not in settings:
            meaning = declared.settings[key].meaning
            raise typer.BadParameter(f"{platform} needs --set {key}=...: {meaning}")
    if not declared.verified:
        say(f"{MARKS['note']}  {platform}: {UNVERIFIED} by its makers")
    findings: list[Finding] = []
    with tempfile.TemporaryDirectory(prefix="steelyard-doctor-") as folder:
        bench = Bench(make, declared, settings, partial(open_machine, LOCAL), Path(folder))
        try:
            for finding in sit(bench):
                say(f"{MARKS[finding.grade]}  {finding.check}: {finding.seen}")
                findings.append(finding)
        finally:
            bench.close()
    bad = any(finding.grade == "bad" for finding in findings)
    return ExitCode.OPERATOR if bad else ExitCode.DONE


def _named(platform: str) -> tuple[Make, Platform]:
    """A platform of the catalogue by name, or one of the user's own by the path of its file."""
    own = PLATFORM_FILES.find(platform, Path())
    if own is not None:
        declared = PLATFORM_FILES.read(own)
        return partial(CommandLinePlatform, platform=declared), declared
    if platform not in PLATFORMS:
        hint = choice_hint(platform, PLATFORMS, "platforms")
        raise typer.BadParameter(f"there is no platform {platform} to examine; {hint}")
    declared = catalogue.platform(platform)
    if declared.driver == "command_line":
        return partial(CommandLinePlatform, platform=declared), declared
    return PLATFORMS[platform], declared


def read_pairs(written: Sequence[str], declared: dict[str, Setting]) -> dict[str, SettingValue]:
    """Settings in base units, with the defaults of those that are not written.

    Raises:
        typer.BadParameter: a key is not known, or a value cannot be read.
    """
    settings = defaults_of(declared)
    for pair in written:
        key, _, value = pair.partition("=")
        if key not in declared:
            raise typer.BadParameter(f"--set {pair}: {choice_hint(key, declared, 'settings')}")
        try:
            settings[key] = read_value(_plain(value, declared[key]), declared[key])
        except (UnitError, KeyError) as error:
            raise typer.BadParameter(f"--set {pair}: {error}") from error
    return {key: value for key, value in settings.items() if value is not None}


def _plain(value: str, setting: Setting) -> object:
    """A flag as YAML would read it; every other kind reads text."""
    if setting.kind == "flag":
        return {"true": True, "false": False}.get(value, value)
    return value
