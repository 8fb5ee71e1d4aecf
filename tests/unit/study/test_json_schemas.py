"""Schemas that editors read refuse what reading refuses, wherever one file alone shows it."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from ruamel.yaml import YAML

from steelyard.cli.planning.init import QUESTIONS, templates
from steelyard.study import catalogue
from steelyard.study.catalogue import Shelf
from steelyard.study.json_schema import SCHEMAS, written
from steelyard.systems.images.json_schema import recipe_schema

ROOT = Path(__file__).parents[3]
ALL = {**SCHEMAS, "image-recipe": recipe_schema}
WRONG = ROOT / "tests" / "cases" / "study" / "wrong"
SHELVES: dict[Shelf, str] = {
    "workloads": "workload-file",
    "services": "service-file",
    "platforms": "platform-file",
    "meters": "meter-file",
}
NO_YAML = {
    "bracket-not-closed", "colon-in-a-text", "key-given-twice", "not-utf8", "tab", "tags",
    "two-documents",
}  # fmt: skip
ONLY_READING = {
    "baseline-is-no-system", "budget-too-few-trials", "budget-too-short",
    "command-without-a-program",
    "consolidation-without-one-alone", "contradiction-in-a-variant", "events-too-late",
    "events-without-a-window", "external-without-a-protocol",
    "factors-bind-to-nothing", "file-not-there",
    "instances", "lines", "meter-of-several-machines",
    "no-service", "one-address-for-all-instances", "one-network-disk-for-all",
    "primary-that-is-not-given", "probe-of-a-stream", "probes", "processors",
    "protocols-differ", "report-cut", "scenarios", "screening-alone", "screening",
    "search-of-what-it-cannot-see", "settings-of-machines", "several-of-one-machine",
    "several-workloads", "trials-out-of-range", "two-primary-responses",
}  # fmt: skip
"""They depend on what is named elsewhere, or on how many there are of something."""
STUDY = """\
study: a-study
question: Which is faster?
systems:
  one: {platform: native, service: {use: sink-http}}
  two: {platform: native, service: {use: sink-http, body: 2 KiB}}
workload: {use: http}
load: {users: [1, 16]}
trials: {margin: 2 %, window: 1 s, budget: {time: 10 min}}
"""
MISTAKES = [
    ("window: 1 s", "window: 1 sec"),
    ("window: 1 s", "window: -1 s"),
    ("window: 1 s", "window: 10"),
    ("window: 1 s", "window: yes"),
    ("time: 10 min", "time: ten minutes"),
    ("margin: 2 %", "margin: 0 %"),
    ("margin: 2 %", "margin: 0.1"),
    ("margin: 2 %, ", ""),
    ("body: 2 KiB", "body: 2048"),
    ("body: 2 KiB", "bodi: 2 KiB"),
    ("body: 2 KiB", "port: 99999"),
    ("body: 2 KiB", "tls: perhaps"),
    ("users: [1, 16]", "users: [0, 16]"),
    ("users: [1, 16]", "users: 4, rate: 100"),
    ("users: [1, 16]", "user: 4"),
    ("workload: {use: http}", "workload: {use: http, keep_alive: maybe}"),
    ("workload: {use: http}", "workload: http"),
    ("workload: {use: http}", "worklaod: {use: http}"),
    ("question: Which is faster?", "question: null"),
]


@cache
def validator(name: str) -> jsonschema.Draft202012Validator:
    schema = ALL[name]()
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def tree(text: str | bytes) -> Any:
    return YAML(typ="safe", pure=True).load(text)


@pytest.mark.parametrize("name", ALL)
def test_the_schema_in_the_repository_is_current(name: str) -> None:
    kept = (ROOT / "schemas" / f"{name}.schema.json").read_text(encoding="utf-8")
    assert kept == written(ALL[name]()), "run: make schemas"


@pytest.mark.parametrize("question", QUESTIONS)
def test_what_init_writes_names_its_schema_and_fits_it(question: str) -> None:
    for path, text in templates("a-study", question).items():
        name = "study" if path == "study.yaml" else "workload-file"
        assert text.startswith("# yaml-language-server: $schema=")
        assert text.splitlines()[0].endswith(f"schemas/{name}.schema.json")
        assert list(validator(name).iter_errors(tree(text))) == []


@pytest.mark.parametrize("shelf", SHELVES)
def test_the_schema_accepts_every_file_of_the_catalogue(shelf: Shelf) -> None:
    own = validator(SHELVES[shelf])
    wrong = {
        name: [each.message for each in own.iter_errors(tree(catalogue.text(shelf, name)))]
        for name in catalogue.names(shelf)
    }
    assert {name: found for name, found in wrong.items() if found} == {}


@pytest.mark.parametrize("name", SHELVES.values())
def test_an_unknown_key_of_a_file_is_refused(name: str) -> None:
    assert list(validator(name).iter_errors({"summary": "A file.", "comand": ["true"]}))


def test_the_schema_of_images_accepts_every_recipe() -> None:
    recipes = sorted((ROOT / "src" / "steelyard" / "catalogue" / "images").rglob("*.yaml"))
    assert recipes
    for path in recipes:
        validator("image-recipe").validate(tree(path.read_bytes()))


def test_of_the_wrong_studies_those_are_accepted_that_only_reading_can_judge() -> None:
    accepted = set()
    for path in sorted(WRONG.glob("*.yaml")):
        if path.stem not in NO_YAML:
            document = json.loads(json.dumps(tree(path.read_bytes()), default=str))
            accepted |= {path.stem} if validator("study").is_valid(document) else set()
    assert accepted == ONLY_READING


def test_a_good_study_is_accepted() -> None:
    assert list(validator("study").iter_errors(tree(STUDY))) == []


@pytest.mark.parametrize(("good", "wrong"), MISTAKES)
def test_a_single_mistake_is_refused(good: str, wrong: str) -> None:
    text = STUDY.replace(good, wrong)
    assert text != STUDY
    assert not validator("study").is_valid(tree(text))
