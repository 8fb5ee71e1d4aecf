"""A service file: what is wrong in it is reported with line and column before anything starts."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pydantic import BaseModel

from steelyard.errors import StudyError
from steelyard.study import catalogue
from steelyard.study.lookup import SERVICE_FILES, service_of, spoken
from steelyard.study.model import ServiceSpec
from steelyard.study.service import entry
from steelyard.study.service.entry import Service

ROOT = Path(__file__).parents[3]
REFERENCE = (ROOT / "docs" / "reference" / "service-file.md").read_text("utf-8")
GOOD = """\
summary: A server.
speaks: [http]
settings:
  workers: {kind: count, default: 2, meaning: "workers"}
  depth: {kind: count, meaning: "depth"}
  mode: {kind: word, choices: [a, b], default: a, meaning: "mode"}
  body: {kind: size, default: 1 KiB, meaning: "size"}
  port: {kind: port, meaning: "port"}
  seed: {kind: count, default: 1, meaning: "seed"}
placeholders:
  named: {by: mode, texts: {a: "x {workers}", b: "y"}}
files:
  - {at: "{folder}/conf", content: "http { workers {workers}; listen {port}; {named} }"}
content:
  - {make: file, at: "{data}/page", bytes: body}
prepare:
  - {run: [mkdir, "{data}"], when: {mode: [b]}}
command: [server, "{folder}/conf"]
listeners: {http: port}
ready: listening
version: {run: [server, -v], pattern: 'v(\\S+)'}
"""


def complaints(text: str) -> list[str]:
    with pytest.raises(StudyError) as refused:
        SERVICE_FILES.parse(text.encode(), Path("mine.yaml"))
    assert refused.value.slug == "service-file-is-wrong"
    return [str(complaint) for complaint in refused.value.complaints]


def test_a_right_file_reads() -> None:
    read = SERVICE_FILES.parse(GOOD.encode(), Path("mine.yaml"))
    assert read.listeners == {"http": "port"}


@pytest.mark.parametrize(
    ("right", "wrong", "place", "message"),
    [
        ("workers {workers}", "workers {worker}", "13:", "there is no placeholder `{worker}`"),
        ("workers {workers}", "workers {depth}", "13:", "`depth` may be left out"),
        ("workers {workers}", "workers {workers:MiB}", "13:", "`workers` is no size"),
        ('[server, "{folder}/conf"]', '[server, "{fold}"]', "18:19", "placeholder `{fold}`"),
        ("by: mode", "by: mood", "11:15", "there is no setting `mood`"),
        (', b: "y"', "", "11:28", "nothing is given for `b`"),
        (', b: "y"', ', b: "y", c: "z"', "11:28", "`mode` is never `c`"),
        ("mode: [b]", "mode: [c]", "17:44", "`mode` is never `c`"),
        ("when: {mode", "when: {mood", "17:43", "there is no setting `mood`"),
        ("bytes: body", "bytes: workers", "15:44", "no setting of kind `size`"),
        ("http: port", "http: workers", "19:19", "no setting of kind `port`"),
        ("{http: port}", "{}", "2:10", "where `http` is listened for"),
        ("'v(\\S+)'", "'v'", "21:39", "0 groups, and needs one"),
        ("'v(\\S+)'", "'v('", "21:39", "not a regular expression"),
        ("default: 2,", "default: two,", "4:35", "whole number"),
        ("command: [", "comand: [", "18:1", "unknown key `comand`"),
        ("speaks: [http]", "speaks: http", "2:9", "must be a list"),
        ("ready: listening", "ready_timeout: 0 s", "20:16", "no time to wait"),
        ("ready: listening", "ready_timeout: soon", "20:16", "`soon`"),
        ("depth: {kind", "ready_timeout: {kind", "5:", "can be no setting"),
        ("ready: listening", "ready: soon", "20:8", "`ready` cannot be `soon`"),
        ("  seed:", "  sead:", "15:", "test content is made of a setting `seed`"),
        ("summary: A server.\n", "", "1:1", "`summary` is missing"),
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


@pytest.mark.parametrize("name", catalogue.names("services"))
def test_every_service_of_the_catalogue_is_without_mistakes(name: str) -> None:
    assert catalogue.service(name).summary.endswith(".")


def models() -> list[type[BaseModel]]:
    return [
        value
        for value in vars(entry).values()
        if isinstance(value, type) and issubclass(value, entry.Part)
    ]


@pytest.mark.parametrize(
    "key", sorted({key for model in models() for key in model.model_fields} | {"kind", "least"})
)
def test_every_key_is_in_the_reference(key: str) -> None:
    quoted = re.findall(r"`([^`]+)`", REFERENCE)
    assert any(key in re.findall(r"\w+", words) for words in quoted)


def test_the_reference_names_every_way_to_be_ready_and_every_kind_of_content() -> None:
    for word in ("announced", "first line", "listening", "command", "file", "files", "maildirs"):
        assert f"| `{word}` |" in REFERENCE


def test_a_file_beside_the_study_is_found_by_path_and_by_name(tmp_path: Path) -> None:
    (tmp_path / "services").mkdir()
    inside = tmp_path / "services" / "mine.yaml"
    inside.write_text(GOOD, encoding="utf-8")
    study = tmp_path / "study.yaml"
    assert SERVICE_FILES.find("mine", study) == inside
    assert SERVICE_FILES.find("./services/mine.yaml", study) == inside
    assert SERVICE_FILES.find("../elsewhere/mine.yaml", study) == inside
    assert SERVICE_FILES.find("other", study) is None


def test_a_service_of_parts_speaks_their_protocols_too() -> None:
    alone = ServiceSpec(use="postfix", settings={"deliver": "discard"})
    delivering = ServiceSpec(use="postfix", settings={"deliver": "dovecot"})
    assert spoken(alone) == ("smtp",)
    assert spoken(delivering) == ("smtp", "imap", "pop3", "lmtp")


def test_a_server_that_runs_already_speaks_what_the_study_says() -> None:
    spec = ServiceSpec(use="external", settings={"speaks": ("smtp", "imap")})
    assert spoken(spec) == ("smtp", "imap")


def test_a_service_of_the_users_own_is_what_its_text_says() -> None:
    spec = ServiceSpec(use="./mine.yaml", text=GOOD)
    assert isinstance(service_of(spec), Service)
    assert service_of(spec).summary == "A server."
