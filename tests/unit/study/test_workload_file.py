"""A workload file: what is wrong in it is reported with line and column before anything starts."""

from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.errors import StudyError
from steelyard.study import catalogue
from steelyard.study.lookup import WORKLOAD_FILES
from steelyard.study.workload.entry import within
from steelyard.study.workload.units import STORED, unit_mistake

GOOD = """\
summary: A tool.
operation: runs
primary: tool.rate
settings:
  depth: {kind: count, meaning: "depth"}
  mode: {kind: word, choices: [a, b], default: a, meaning: "mode"}
  body: {kind: size, default: 1 KiB, meaning: "size"}
placeholders:
  named: {by: mode, texts: {a: "x", b: "y"}}
words:
  depth: [--depth, "{depth}"]
  mode: {a: [], b: [-b]}
prepare:
  - {run: [mkdir, "{folder}/x"], when: {mode: [b]}}
command: [tool, --for, "{window:ms}", --size, "{body:KiB}", "{named}", "{words.mode}", "{words.depth}", "{report}"]
ends: window
writes: {report: "{folder}/report.json"}
version: {run: [tool, -V], pattern: 'v(\\S+)', least: "1.0", before: "2"}
scales:
  time: {us: 1000, ms: 1000000}
tables:
  rows: {header: '^NAME', columns: [name, mean, max]}
metrics:
  tool.rate: {label: rate, unit: bytes/s, direction: higher, meaning: "rate", from: report, json: a.0.b}
  tool.time: {label: time, unit: ns, direction: lower, meaning: "time", pattern: 't (?P<value>[0-9]+)(?P<unit>us|ms)', scale: time}
  tool.max: {label: max, unit: ns, direction: lower, meaning: "max", table: rows, row: {name: x}, column: max}
  throughput: {from: stderr, pattern: 'all ([0-9]+)', when: {mode: [a]}}
"""  # noqa: E501 - as people write it


def complaints(text: str) -> list[str]:
    with pytest.raises(StudyError) as refused:
        WORKLOAD_FILES.parse(text.encode(), Path("mine.yaml"))
    assert refused.value.slug == "workload-file-is-wrong"
    return [str(complaint) for complaint in refused.value.complaints]


def test_a_right_file_reads() -> None:
    read = WORKLOAD_FILES.parse(GOOD.encode(), Path("mine.yaml"))
    assert list(read.metrics) == ["tool.rate", "tool.time", "tool.max", "throughput"]


def test_a_required_setting_may_stand_where_nothing_must_be_missing() -> None:
    text = GOOD.replace("{body:KiB}", "{depth}").replace("depth: {", "depth: {required: true, ")
    assert WORKLOAD_FILES.parse(text.encode(), Path("mine.yaml")).settings["depth"].required


@pytest.mark.parametrize(
    ("right", "wrong", "place", "message"),
    [
        ("{window:ms}", "{windov}", "15:24", "there is no placeholder `{windov}`"),
        ("{window:ms}", "{window:MiB}", "15:24", "`window` is no size"),
        ("{window:ms}", "10", "16:7", "never says how long the window is"),
        ("ends: window", "ends: by itself", "16:7", "is given how long to run"),
        ("ends: window\n", "", "15:", "nothing says when the tool ends"),
        ("ends: window", "ends: window\nwarmup: itself", "15:", "does not fit `warmup`"),
        ("{body:KiB}", "{depth}", "15:", "`depth` may be left out"),
        ('"{words.mode}"', '"-{words.mode}"', "15:", "must stand alone"),
        ('"{words.mode}"', '"{words.mood}"', "15:", "there are no words `mood`"),
        ("mode: {a: [], b", "mode: {c: [], b", "12:", "`mode` is never `c`"),
        (', b: "y"', "", "9:", "nothing is given for `b`"),
        ("by: mode", "by: mood", "9:", "there is no setting `mood`"),
        ("when: {mode: [b]}", "when: {mode: [c]}", "14:", "`mode` is never `c`"),
        ("from: report", "from: rapport", "24:", "there is no output `rapport`"),
        ("json: a.0.b", "json: a..b", "24:", "is no path"),
        ("json: a.0.b", 'json: a.b, pattern: "(x)"', "24:", "several keys say"),
        ("json: a.0.b", "", "24:", "nothing says where it stands"),
        ("t (?P<value>", "t (", "25:", "2 groups, and none is called `value`"),
        ("(?P<unit>us|ms)", "us", "25:", "nothing says which unit is printed"),
        (", scale: time", "", "25:", "nothing says what the printed unit means"),
        ("scale: time", "scale: tame", "25:", "there is no scale `tame`"),
        ("table: rows", "table: raws", "26:", "there is no table `raws`"),
        ("column: max", "column: mox", "26:", "there is no column `mox`"),
        ("{name: x}", "{nome: x}", "26:", "there is no column `nome`"),
        ("label: max, ", "", "26:", "`label` of `tool.max` is missing"),
        ("throughput: {", "throughput: {unit: x/s, ", "27:", "is a standard response"),
        ("  tool.time:", "  response.time:", "25:", "cannot be the name of a metric"),
        ("  tool.time:", "  time:", "25:", "cannot be the name of a metric"),
        ("primary: tool.rate", "primary: tool.rote", "3:10", "does not measure `tool.rote`"),
        ("'v(\\S+)'", "'v'", "18:", "0 groups, and needs one"),
        ('least: "1.0"', "least: one", "18:", "`one` is no version"),
        ("writes: {report:", "writes: {stderr:", "17:", "means something else already"),
        ("command: [", "comand: [", "15:1", "unknown key `comand`"),
        ("summary: A tool.\n", "summary: A.\nspeaks_by: port\n", "2:", "`port` is no setting"),
        ("summary: A tool.\n", "shares: [tls]\nsummary: A tool.\n", "1:1", "of the catalogue"),
        ("tool, --for", "tool, {a: b}", "15:", "must be a text"),
        ("unit: bytes/s", "unit: MB/s", "24:34", "no value is stored in `MB/s`"),
        ("unit: bytes/s", "unit: parsecs", "24:", "no value is stored in `parsecs`"),
        ("unit: bytes/s", "unit: Byte/s", "24:", "no value is stored in `Byte/s`"),
        ("json: a.0.b", "json: a.0.b, scale: 0", "24:", "`0` multiplies nothing"),
        ("json: a.0.b", "json: a.0.b, scale: -5", "24:", "`-5` multiplies nothing"),
        ("json: a.0.b", "json: a.0.b, scale: true", "24:", "`true` is no number"),
        ("us: 1000,", "us: -1000,", "20:14", "`-1000` multiplies nothing"),
        ("us: 1000,", "us: nan,", "20:14", "`nan` multiplies nothing"),
        (
            "operation: runs",
            "operation: !!python/object:os.system x",
            "2:12",
            "not supported: `!!python",
        ),
    ],
)
def test_a_mistake_is_reported_with_its_place(
    right: str, wrong: str, place: str, message: str
) -> None:
    assert right in GOOD
    told = complaints(GOOD.replace(right, wrong, 1))
    assert any(line.startswith(f"mine.yaml:{place}") and message in line for line in told), told


def test_an_empty_file_is_answered_as_such() -> None:
    assert complaints("") == ["mine.yaml:1:1: the file is empty"]


@pytest.mark.parametrize(
    ("command", "place"), [("command: []\n", "15:10"), ("", "1:1")], ids=["empty", "none"]
)
def test_of_a_file_without_a_command_that_alone_is_reported(command: str, place: str) -> None:
    written = next(line for line in GOOD.splitlines() if line.startswith("command:"))
    told = complaints(GOOD.replace(f"{written}\n", command))
    assert told == [f"mine.yaml:{place}: there is no command"]


def test_a_second_document_is_reported_of_a_workload_file() -> None:
    with pytest.raises(StudyError) as refused:
        WORKLOAD_FILES.parse(f"{GOOD}---\na: b\n".encode(), Path("mine.yaml"))
    assert refused.value.complaints[0].hint == "a workload file has one document; remove `---`"


@pytest.mark.parametrize(
    ("unit", "scale", "hint"),
    [
        ("MB/s", 1, "values are stored in bytes/s: write `unit: bytes/s` and `scale: 1000000`"),
        ("Mbit/s", 1, "values are stored in bytes/s: write `unit: bytes/s` and `scale: 125000`"),
        ("KiB", 1, "values are stored in bytes: write `unit: bytes` and `scale: 1024`"),
        ("MiB/sec", 2, "values are stored in bytes/s: write `unit: bytes/s` and `scale: 2097152`"),
        ("msec", 1, "values are stored in ns: write `unit: ns` and `scale: 1000000`"),
        ("minutes", 1, "values are stored in s: write `unit: s` and `scale: 60`"),
        ("%", 1, "values are stored in ratio: write `unit: ratio` and `scale: 0.01`"),
        ("seconds", 1, "values are stored in s: write `unit: s`"),
        ("ms", None, "values are stored in ns: write `unit: ns`, and `scale` for it"),
        ("KB/s", 1, "values are stored in bytes/s: write `unit: bytes/s`, and as `scale` what"),
        ("parsecs", 1, "times are stored in ns or s"),
        ("core", 1, "did you mean `cores`?"),
        ("score", 1, "did you mean `cores`? units: ns, s, bytes"),
    ],
)
def test_another_unit_is_answered_with_the_stored_one(
    unit: str, scale: float | None, hint: str
) -> None:
    wrong = unit_mistake(unit, scale)
    assert wrong is not None
    assert wrong[1].startswith(hint)


@pytest.mark.parametrize("unit", [*STORED, "passes", "requests/s", "context switches/s"])
def test_what_is_stored_or_counted_is_a_unit(unit: str) -> None:
    assert unit_mistake(unit, 1) is None


@pytest.mark.parametrize("name", catalogue.names("workloads"))
def test_every_workload_of_the_catalogue_is_without_mistakes(name: str) -> None:
    assert catalogue.workload(name).summary.endswith(".")


def test_a_file_beside_the_study_is_found_by_path_and_by_name(tmp_path: Path) -> None:
    (tmp_path / "workloads").mkdir()
    inside = tmp_path / "workloads" / "mine.yaml"
    inside.write_text(GOOD, encoding="utf-8")
    study = tmp_path / "study.yaml"
    assert WORKLOAD_FILES.find("mine", study) == inside
    assert WORKLOAD_FILES.find("./workloads/mine.yaml", study) == inside
    assert WORKLOAD_FILES.find("../elsewhere/mine.yaml", study) == inside
    assert WORKLOAD_FILES.find("other", study) is None


@pytest.mark.parametrize(
    ("version", "good"),
    [
        ("3.9", False),
        ("3.10", True),
        ("3.33", True),
        ("4", False),
        ("4.0", False),
        ("3.10.0", True),
    ],
)
def test_versions_are_compared_number_by_number(version: str, good: bool) -> None:
    assert within(version, "3.10", "4") is good
