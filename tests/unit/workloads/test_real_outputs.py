"""What real tools printed is read as it was the first time, and a part of it never otherwise.

``tests/cases/tools/WORKLOAD/VERSION-WHAT/`` holds the output of one run: ``stdout.txt``,
``stderr.txt``, ``NAME.txt`` for a file of ``writes``, the settings in ``settings.json``, what the
tool said of its version in ``version.txt``, and in ``read.json`` what is read from it, or in
``refused.txt`` why nothing is. ``made.yaml`` of a folder says which command printed each.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from steelyard.hosts.failures import SystemFailure
from steelyard.imports.metrics import OutputError, read_metrics
from steelyard.records.schema import Measured
from steelyard.report.notes.missing import missing_text
from steelyard.study import catalogue
from steelyard.study.declared import responses as declared
from steelyard.study.declared.value import defaults_of, read_value
from steelyard.workloads.tools.values import tool_values
from steelyard.workloads.tools.version import supported_version

TOOLS = Path(__file__).parents[2] / "cases" / "tools"
CASES = sorted(path.parent for path in TOOLS.glob("*/*/read.json"))
MADE = {
    (path.parent.name, case): row
    for path in sorted(TOOLS.glob("*/made.yaml"))
    for case, row in YAML(typ="safe").load(path).items()
}
VERSIONED = [case for case in CASES if (case / "version.txt").exists()]
REFUSED = sorted(path.parent for path in TOOLS.glob("*/*/refused.txt"))
APART = ("settings", "read", "version", "refused")
ENDED_BY_CLOCK = {"postal"}
"""What is ended after a time may rightly have printed one line more or less."""
CUTS = 40


def case_id(case: Path) -> str:
    return f"{case.parent.name}-{case.name}"


def texts_of(case: Path) -> dict[str, str]:
    files = (path for path in case.glob("*.txt") if path.stem not in APART)
    return {path.stem: path.read_text(encoding="utf-8") for path in files}


def settings_of(case: Path) -> dict[str, Any]:
    declared = catalogue.workload(case.parent.name).settings
    settings = defaults_of(declared)
    file = case / "settings.json"
    written = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    return settings | {name: read_value(value, declared[name]) for name, value in written.items()}


def read(case: Path, texts: dict[str, str]) -> dict[str, Measured]:
    entry, settings = catalogue.workload(case.parent.name), settings_of(case)
    given = {"folder": "/f", "mount": "/m", "window": 1, "warmup": 0, "seed": 1, "threads": 1}
    served = {"address": "127.0.0.1", "port": 1, "users": 1, "rate": 1, "device": "/dev/x"}
    served |= {"authority": "/f/key"} | json.loads(beside(case, "given.json", "{}"))
    values = tool_values(entry, settings, {**given, **served})
    return read_metrics(entry, settings, values, texts, declared.responses())


def beside(case: Path, name: str, otherwise: str) -> str:
    file = case / name
    return file.read_text(encoding="utf-8") if file.exists() else otherwise


def why_refused(case: Path) -> str:
    """By its exit code, as the trial would; or by what it printed."""
    code = MADE[case.parent.name, case.name]["exit"]
    if code not in catalogue.workload(case.parent.name).good_exits:
        return f"ended with {code}"
    with pytest.raises(OutputError) as refused:
        read(case, texts_of(case))
    return str(refused.value)


def as_json(measured: dict[str, Measured]) -> dict[str, Any]:
    return {
        name: [one.value, one.unit]
        if one.missing is None
        else f"missing: {missing_text(one.missing)}"
        for name, one in measured.items()
    }


@pytest.mark.parametrize("case", CASES, ids=case_id)
def test_a_recorded_output_is_read_as_it_was(case: Path) -> None:
    seen = as_json(read(case, texts_of(case)))
    if os.environ.get("STEELYARD_ACCEPT"):
        text = json.dumps(seen, indent=1, ensure_ascii=False) + "\n"
        (case / "read.json").write_text(text, encoding="utf-8")
    assert seen == json.loads((case / "read.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", CASES, ids=case_id)
def test_an_output_that_is_cut_short_is_read_whole_or_not_at_all(case: Path) -> None:
    texts = texts_of(case)
    whole = as_json(read(case, texts))
    refused = 0
    for source, text in texts.items():
        for i in range(CUTS):
            cut = text[: len(text) * i // CUTS]
            try:
                seen = as_json(read(case, texts | {source: cut}))
            except OutputError:
                refused += 1
            else:
                assert seen == whole or case.parent.name in ENDED_BY_CLOCK, (source, i)
    assert refused or not whole or case.parent.name in ENDED_BY_CLOCK


@pytest.mark.parametrize("case", CASES, ids=case_id)
def test_an_output_whose_words_have_changed_is_refused_with_the_place_of_every_number(
    case: Path,
) -> None:
    """Another spelling stands for a later version; what has no words reads as before."""
    texts = texts_of(case)
    whole = as_json(read(case, texts))
    try:
        seen = as_json(read(case, {source: text.swapcase() for source, text in texts.items()}))
    except OutputError as refused:
        sources = [*texts, *catalogue.workload(case.parent.name).writes, "stdout", "stderr"]
        for name, why in refused.missing.items():
            assert any(f"`{source}`" in why for source in sources) or "the table" in why, (
                name,
                why,
            )
    else:
        nothing = all(str(one).startswith("missing:") for one in seen.values())
        assert nothing or seen == whole


BEYOND = [name for name in catalogue.names("workloads") if catalogue.workload(name).version]


@pytest.mark.parametrize("use", BEYOND)
def test_a_version_that_was_never_seen_is_named_with_what_is_parsed(use: str) -> None:
    version = catalogue.workload(use).version
    assert version is not None
    if version.before is None:
        pytest.skip("this workload understands every later version")
    said = re.sub(r"\\([().+])", r"\1", re.sub(r"\((?!\?).*\)", version.before, version.pattern))
    said = said.strip("^$")
    if re.search(version.pattern, said, re.MULTILINE) is None:
        pytest.skip("what it says cannot be made from its pattern")
    with pytest.raises(SystemFailure) as failed:
        supported_version(version, said, use)
    assert use in failed.value.message
    assert f"version {version.before}," in failed.value.message


@pytest.mark.parametrize("case", REFUSED, ids=case_id)
def test_an_output_that_says_nothing_good_is_refused_with_its_reason(case: Path) -> None:
    why = why_refused(case) + "\n"
    if os.environ.get("STEELYARD_ACCEPT"):
        (case / "refused.txt").write_text(why, encoding="utf-8")
    assert why == (case / "refused.txt").read_text(encoding="utf-8")


def test_it_is_said_of_every_recorded_output_how_it_was_made_and_what_is_read() -> None:
    tools = set(catalogue.names("workloads"))
    for tool, case in MADE:
        folder = TOOLS / tool / case
        assert any(folder.glob("std*.txt")) or any(folder.glob("report.txt")), folder
        expected = [name for name in ("read.json", "refused.txt") if (folder / name).exists()]
        assert len(expected) == (tool in tools and catalogue.workload(tool).is_tool), folder


@pytest.mark.parametrize("case", VERSIONED, ids=case_id)
def test_the_version_that_printed_it_is_one_that_is_parsed(case: Path) -> None:
    version = catalogue.workload(case.parent.name).version
    assert version is not None
    said = (case / "version.txt").read_text(encoding="utf-8")
    assert supported_version(version, said, "it") in case.name


OF_THE_FILE = {"command", "rtsp-start"}
"""What is run is the study's own, or stands in the workload's file: it has no version besides."""


def test_every_tool_is_asked_for_its_version() -> None:
    entries = {name: catalogue.workload(name) for name in catalogue.names("workloads")}
    tools = {name for name, entry in entries.items() if entry.is_tool}
    engine = {name for name in tools if entries[name].command[0] == "@engine"}
    assert tools - engine - OF_THE_FILE == set(BEYOND)


def test_every_tool_has_an_output_that_was_really_printed() -> None:
    tools = {name for name in catalogue.names("workloads") if catalogue.workload(name).metrics}
    engine = {name for name in tools if catalogue.workload(name).command[0] == "@engine"}
    assert tools - engine - {case.parent.name for case in CASES} == set()
