"""What a correct study becomes: levels, defaults, variants, hash."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from tests.unit.study.study_texts import (
    BODY,
    CASES,
    HEAD,
    TRIALS,
    agrees,
    as_text,
    complaints_of,
    written,
)

from steelyard.cli.planning.init import templates
from steelyard.plan.model import Cell
from steelyard.study.bind import bind
from steelyard.study.file.source import read_source
from steelyard.study.json_schema import study_schema
from steelyard.study.read import (
    read_runnable_study,
    read_study,
    read_study_bytes,
    read_with_lacking,
)
from steelyard.study.workload_study import studies

ROOT = Path(__file__).parents[3]
EXAMPLES = sorted((CASES / "examples").glob("*.yaml"))
STUDIES = sorted((ROOT / "studies").glob("*/study.yaml"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_the_five_studies_read_without_a_complaint(example: Path) -> None:
    assert complaints_of(example) == []


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_what_this_version_cannot_run_is_named_with_its_place(example: Path) -> None:
    text = as_text(read_with_lacking(example)[1])
    assert agrees(CASES / "lacking" / f"{example.stem}.txt", text)


@pytest.mark.parametrize("study", STUDIES, ids=lambda path: path.parent.name)
def test_every_shipped_study_can_be_run(study: Path) -> None:
    assert read_runnable_study(study.parent).name


def test_every_shipped_study_says_its_question_in_a_readme() -> None:
    for study in STUDIES:
        title = study.with_name("README.md").read_text(encoding="utf-8").splitlines()[0]
        assert title.startswith("# ")
        assert title.endswith("?")


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    """The written schema, which is one itself."""
    read: dict[str, Any] = study_schema()
    jsonschema.Draft202012Validator.check_schema(read)
    return read


@pytest.mark.parametrize("path", [*EXAMPLES, *STUDIES], ids=lambda path: path.parent.name)
def test_the_schema_accepts_every_example(path: Path, schema: dict[str, Any]) -> None:
    jsonschema.Draft202012Validator(schema).validate(read_source(path).tree)


def test_the_schema_refuses_an_unknown_setting() -> None:
    tree = read_source(EXAMPLES[2]).tree
    tree["workload"]["bodi"] = "1 B"
    errors = list(jsonschema.Draft202012Validator(study_schema()).iter_errors(tree))
    assert len(errors) == 1


def test_the_template_is_a_study_that_runs(tmp_path: Path) -> None:
    path = written(tmp_path, templates("mail at home")["study.yaml"])
    assert read_runnable_study(path).name == "mail-at-home"


@pytest.mark.parametrize("name", ["", "...", "ß", "123", "a" * 500, "true: x", "null"])
def test_the_template_reads_whatever_it_is_called(tmp_path: Path, name: str) -> None:
    assert complaints_of(written(tmp_path, templates(name)["study.yaml"])) == []


def test_quantities_become_base_units(tmp_path: Path) -> None:
    study = read_study(written(tmp_path, BODY + TRIALS))
    assert study.systems["two"].service is not None
    assert study.systems["two"].service.settings["body"] == 2048
    assert (study.trials.margin_ratio, study.trials.budget.time_s) == (0.02, 600.0)


def test_defaults_are_those_of_the_model(tmp_path: Path) -> None:
    study = read_study(written(tmp_path, BODY + "trials: {margin: 2 %}\n"))
    trials = study.trials
    assert (trials.window_s, trials.warmup_s, trials.drain_s, trials.timeout_s) == (10, 2, 2, 10)
    assert (trials.retry, trials.reset, trials.until, trials.alpha) == (
        3,
        "service",
        "every level",
        0.05,
    )
    assert study.baseline == "one"
    assert study.factors == {"load.users": (1,)}
    assert list(studies(study)[0].responses) == ["throughput"]


def test_the_primary_response_comes_first_when_it_was_not_named(tmp_path: Path) -> None:
    study = read_study(written(tmp_path, BODY + TRIALS + "responses: {response.p99: {}}\n"))
    (one,) = studies(study)
    assert list(one.responses) == ["throughput", "response.p99"]
    assert one.primary.name == "throughput"
    assert one.primary.unit == "requests/s"


def test_a_response_may_stand_without_braces(tmp_path: Path) -> None:
    study = read_study(written(tmp_path, BODY + TRIALS + "responses:\n  errors:\n"))
    assert "errors" in studies(study)[0].responses


@pytest.mark.parametrize(("window", "every_s"), [("2 s", 0.25), ("60 s", 1.0), ("0.2 s", 0.1)])
def test_samples_are_an_eighth_of_the_window_within_limits(
    tmp_path: Path, window: str, every_s: float
) -> None:
    path = written(tmp_path, BODY + f"trials: {{margin: 2 %, window: {window}}}\n")
    assert read_study(path).sample.every_s == every_s


def test_ranges_and_lists_mix_as_levels(tmp_path: Path) -> None:
    text = BODY + TRIALS + "load: {users: [1..3, 20..40 by 10, 64]}\n"
    assert read_study(written(tmp_path, text)).factors["load.users"] == (1, 2, 3, 20, 30, 40, 64)


def test_a_list_in_the_workload_is_a_condition(tmp_path: Path) -> None:
    text = HEAD + "workload: {use: http, keep_alive: [true, false]}\n" + TRIALS
    study = read_study(written(tmp_path, text))
    assert study.factors["workload.keep_alive"] == (True, False)
    cell = Cell(system="two", conditions={"workload.keep_alive": False, "load.users": 1})
    bound = bind(study, cell)
    assert bound.workload.settings["keep_alive"] is False
    assert bound.users == 1
    service = bound.service_of(1)
    assert service is not None
    assert service.settings["body"] == 2048


def test_users_may_be_given_as_a_factor(tmp_path: Path) -> None:
    study = read_study(written(tmp_path, BODY + TRIALS + "factors: {load.users: [2, 8]}\n"))
    assert study.factors == {"load.users": (2, 8)}


def test_a_rate_makes_the_load_open(tmp_path: Path) -> None:
    text = BODY + TRIALS + "load: {rate: [100, 0.5], arrival: constant}\n"
    study = read_study(written(tmp_path, text))
    assert study.load is not None
    assert (study.load.mode, study.load.arrival) == ("open", "constant")
    assert study.factors == {"load.rate": (100, 0.5)}


@pytest.mark.parametrize("word", ["off", "no", "on", "yes", "OFF"])
def test_words_that_yaml_once_read_as_booleans_stay_words(tmp_path: Path, word: str) -> None:
    text = (
        BODY
        + TRIALS
        + f"factors: {{settings.tuned: [{word}, balanced]}}\n"
        + f"compare: settings.tuned\nbaseline: {word}\n"
    )
    study = read_study(written(tmp_path, text))
    assert study.compared == (word, "balanced")
    assert study.baseline == word


def test_a_variant_replaces_parts_and_leaves_systems_out() -> None:
    study = read_study(CASES / "examples" / "mail-scalability.yaml", variant="small")
    assert list(study.systems) == ["physical", "container"]
    assert study.factors["load.users"] == (1, 4, 16, 64)
    assert (study.trials.window_s, study.trials.margin_ratio) == (3.0, 0.03)
    assert study.systems["container"].settings["memory"] == 1 << 30


def test_a_variant_leaves_out_claims_about_systems_it_leaves_out() -> None:
    path = CASES / "examples" / "mail-scalability.yaml"
    whole, small = read_study(path), read_study(path, variant="small")
    assert [claim.id for claim in whole.claims] == ["vm-keeps-up", "nic-matters", "saturates"]
    assert [claim.id for claim in small.claims] == ["saturates"]


def test_null_in_a_variant_takes_a_part_out(tmp_path: Path) -> None:
    text = BODY + TRIALS + "gates: {errors: none}\nvariants: {open: {gates: null}}\n"
    path = written(tmp_path, text)
    assert studies(read_study(path))[0].gates
    assert not studies(read_study(path, variant="open"))[0].gates


def test_the_hash_is_that_of_the_bytes_and_the_variant(tmp_path: Path) -> None:
    path = written(tmp_path, BODY + TRIALS + "variants: {quick: {load: {users: 2}}}\n")
    raw = path.read_bytes()
    assert read_study(path).sha256 == hashlib.sha256(raw).hexdigest()
    assert read_study(path, variant="quick").sha256 == hashlib.sha256(raw + b"quick").hexdigest()


def test_the_copy_kept_with_a_run_reads_as_the_same_study(tmp_path: Path) -> None:
    path = written(tmp_path, BODY + TRIALS)
    assert read_study_bytes(path.read_bytes(), path) == read_study(path)


def test_a_byte_order_mark_is_no_mistake(tmp_path: Path) -> None:
    path = tmp_path / "study.yaml"
    path.write_bytes(b"\xef\xbb\xbf" + (BODY + TRIALS).encode())
    assert complaints_of(path) == []


def test_gates_are_in_the_unit_of_their_response(tmp_path: Path) -> None:
    text = BODY + TRIALS + "gates: {response.p99: at most 500 ms, throughput: at least 10}\n"
    gates = studies(read_study(written(tmp_path, text)))[0].gates
    assert (gates["response.p99"].at_most, gates["response.p99"].unit) == (5e8, "ns")
    assert (gates["throughput"].at_least, gates["throughput"].at_most) == (10.0, None)


def test_scenarios_say_what_runs_on_which_instance() -> None:
    study = read_study(CASES / "examples" / "virtualization-efficiency.yaml")
    assert [placed.workload for placed in study.scenarios["disk+net"].instances[1]] == [
        "disk",
        "net",
    ]
    assert study.scenarios["neighbours"].instances[1][0].settings == {"peer": "2"}
    assert study.factors["workloads.memory.blocks"][-1] == 32 << 20


def test_a_reset_under_defaults_is_that_of_every_system_without_its_own(tmp_path: Path) -> None:
    text = """\
study: resets
question: Is the default used?
defaults: {reset: process, service: {use: sink-http}}
systems: {one: {platform: native}, two: {platform: native, reset: service}}
workload: {use: http}
trials: {margin: 20 %, budget: {time: 1 h}}
"""
    systems = read_study(written(tmp_path, text)).systems
    assert {name: each.reset for name, each in systems.items()} == {
        "one": "process",
        "two": "service",
    }
