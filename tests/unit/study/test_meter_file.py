"""A meter file: what is wrong in it is reported with line and column before anything starts."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pydantic import BaseModel

from steelyard.errors import StudyError
from steelyard.study import catalogue
from steelyard.study.lookup import METER_FILES
from steelyard.study.meter import entry
from steelyard.study.read import read_study

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "reference" / "meter-file.md").read_text("utf-8")
REFERENCE = re.sub(r"(?s)```.*?```", "", PAGE)
GOOD = """\
summary: A meter.
settings:
  address: {kind: text, required: true, meaning: "address"}
  unit: {kind: word, choices: [W, Wh], default: W, meaning: "unit"}
  step: {kind: number, default: 1, meaning: "step"}
  user: {kind: text, meaning: "who"}
http: {url: "http://{address}/now"}
value: {at: power.now, unit: "{unit}", resolution: "{step}"}
moment: {at: time}
every: 1 s
"""


def complaints(text: str) -> list[str]:
    with pytest.raises(StudyError) as refused:
        METER_FILES.parse(text.encode(), Path("mine.yaml"))
    assert refused.value.slug == "meter-file-is-wrong"
    return [str(complaint) for complaint in refused.value.complaints]


def test_a_right_file_reads() -> None:
    read = METER_FILES.parse(GOOD.encode(), Path("mine.yaml"))
    assert read.value.at == "power.now"
    assert read.every == 1


@pytest.mark.parametrize(
    ("right", "wrong", "place", "message"),
    [
        ("http://{address}", "http://{adress}", "7:", "there is no placeholder `{adress}`"),
        ("http://{address}", "http://{user}", "7:", "`user` may be left out"),
        ('http: {url: "http://{address}/now"}', "notes: none", "1:", "one way to ask"),
        ("at: power.now", "at: power..now", "8:", "is no place in JSON"),
        ("at: power.now", "pattern: power", "8:", "0 groups, and needs one"),
        ("at: power.now", "pattern: '(power'", "8:", "not a regular expression"),
        ("at: power.now, unit", "unit", "8:", "one place for `value`"),
        ('unit: "{unit}"', "unit: Ws", "8:", "no unit `Ws`"),
        ('unit: "{unit}"', 'unit: "{address}"', "8:", "`address` may be no unit"),
        ('resolution: "{step}"', 'resolution: "{address}"', "8:", "is no number"),
        ('resolution: "{step}"', "resolution: -1", "8:", "which no meter has"),
        ('resolution: "{step}"', "resolution: 1, factor: 0", "8:", "which no meter has"),
        ("  step: {", "  use: {", "5:", "can be no setting"),
        ("default: 1,", "default: one,", "5:", "one"),
        ("every: 1 s", "every: soon", "10:8", "soon"),
        ("every: 1 s", "evry: 1 s", "10:1", "unknown key `evry`"),
        ("summary: A meter.\n", "", "1:1", "`summary` is missing"),
    ],
)
def test_a_mistake_is_reported_with_its_place(
    right: str, wrong: str, place: str, message: str
) -> None:
    assert right in GOOD
    told = complaints(GOOD.replace(right, wrong, 1))
    assert any(line.startswith(f"mine.yaml:{place}") and message in line for line in told), told


@pytest.mark.parametrize("name", catalogue.names("meters"))
def test_every_meter_of_the_catalogue_is_without_mistakes(name: str) -> None:
    assert catalogue.meter(name).summary.endswith(".")


def models() -> list[type[BaseModel]]:
    return [
        value
        for value in vars(entry).values()
        if isinstance(value, type) and issubclass(value, entry.Part)
    ]


@pytest.mark.parametrize("key", sorted({key for model in models() for key in model.model_fields}))
def test_every_key_is_in_the_reference(key: str) -> None:
    quoted = re.findall(r"`([^`]+)`", REFERENCE)
    assert any(key in re.findall(r"\w+", words) for words in quoted)


STUDY = """\
study: a-study
question: Which is cheaper to run?
defaults: {meter: {use: ./mine.yaml, address: "192.0.2.7", user: me}}
systems:
  one: {platform: native}
  two: {platform: native, meter: {use: tasmota, address: "192.0.2.8"}}
workload: {command: ["true"]}
responses: {power.energy: {primary: true}}
trials: {margin: 2 %, window: 1 s, aa_control: true, budget: {time: 10 min}}
"""


def test_a_study_holds_the_meter_of_each_system_and_the_text_of_a_file_of_ones_own(
    tmp_path: Path,
) -> None:
    (tmp_path / "mine.yaml").write_text(GOOD, encoding="utf-8")
    (tmp_path / "study.yaml").write_text(STUDY, encoding="utf-8")
    systems = read_study(tmp_path / "study.yaml").systems
    one, two, again = systems["one"].meter, systems["two"].meter, systems["one-again"].meter
    assert one is not None
    assert two is not None
    assert (one.text, two.text) == (GOOD, None)
    assert two.settings["resolution"] == 1
    assert again == one


@pytest.mark.parametrize("factor", ["-1", "0"])
def test_a_factor_by_which_no_reading_is_left_is_refused_with_its_line(
    tmp_path: Path, factor: str
) -> None:
    meter = f"{{use: http-json, url: 'http://a', at: a, factor: {factor}, resolution: 0.00001}}"
    text = STUDY.replace('{use: ./mine.yaml, address: "192.0.2.7", user: me}', meter)
    (tmp_path / "study.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(StudyError) as refused:
        read_study(tmp_path / "study.yaml")
    [complaint] = refused.value.complaints
    assert complaint.line == 3
    assert "`factor`" in complaint.message


def test_the_power_study_has_a_variant_with_a_meter() -> None:
    study = read_study(ROOT / "studies" / "tuned-power" / "study.yaml", variant="meter")
    assert {system.meter.use for system in study.systems.values() if system.meter} == {
        "shelly-gen1"
    }
