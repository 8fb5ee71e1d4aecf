"""The documents here are read by Rust and by Python: neither side can drift alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from pydantic import BaseModel

from steelyard.engine import messages
from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import read_load
from steelyard.records.schema import Outcome
from steelyard.report.notes.warnings import TEXTS
from steelyard.trial.attempt.gates import generator_figures
from steelyard.trial.attempt.outcomes import as_failed

HERE = Path(__file__).parent
SCHEMAS = HERE.parents[1] / "schemas"

READ_AS: dict[str, type[BaseModel]] = {
    "hello": messages.Hello,
    "started": messages.Started,
    "process": messages.ProcessState,
    "clock": messages.Clock,
    "path": messages.PathFacts,
    "ran": messages.Ran,
    "file": messages.FileContent,
    "samples": messages.Samples,
    "thread_places": messages.ThreadPlaces,
}


def schema(name: str) -> dict[str, Any]:
    text = (SCHEMAS / f"{name}.schema.json").read_text(encoding="utf-8")
    read: dict[str, Any] = json.loads(text)
    return read


def lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (HERE / name).read_text(encoding="utf-8").splitlines()]


def load_result() -> dict[str, Any]:
    read: dict[str, Any] = json.loads((HERE / "load-result.json").read_text(encoding="utf-8"))
    return read


def test_a_stored_load_result_fits_the_schema_and_is_read() -> None:
    document = load_result()
    jsonschema.validate(document, schema("load-result"))
    read = messages.LoadResult.model_validate(document)
    assert read.counts.ok == document["counts"]["ok"]
    assert read.latency_ns["response"].p50 == document["latency_ns"]["response"]["p50"]
    (warning,) = read.verdict.warnings
    assert (warning.kind, warning.part) == ("late", None)
    assert warning.figures == {"lag_p99_ns": 61000, "allowed_ns": 50000}


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"kind": "unknown_here"}, "`verdict.warnings.0.kind` is 'unknown_here'"),
        ({"state": None}, "`verdict.warnings.0.state` is None"),
    ],
)
def test_what_only_an_engine_of_another_version_tells_ends_the_session_for_the_operator(
    change: dict[str, Any], told: str
) -> None:
    document = load_result()
    document["verdict"]["warnings"][0] |= change
    with pytest.raises(SystemFailure) as refused:
        read_load(document)
    assert refused.value.for_operator
    failed = as_failed(refused.value)
    assert failed.outcome is Outcome.NEEDS_OPERATOR
    assert failed.message.startswith("the engine is of another version than this package")
    assert failed.message.endswith(told)


@pytest.mark.parametrize("request_line", lines("agent-requests.jsonl"), ids=lambda r: r["verb"])
def test_every_request_fits_the_schema(request_line: dict[str, Any]) -> None:
    jsonschema.validate(request_line, schema("agent-request"))


@pytest.mark.parametrize("reply", lines("agent-replies.jsonl"), ids=lambda r: str(r["id"]))
def test_every_reply_fits_the_schema_and_is_read(reply: dict[str, Any]) -> None:
    jsonschema.validate(reply, schema("agent-reply"))
    read = messages.Reply.model_validate(reply)
    assert (read.ok is None) != (read.error is None)
    model = READ_AS.get(reply.get("ok", {}).get("kind", ""))
    if model is not None:
        model.model_validate(read.ok)


def test_what_python_reads_of_a_result_is_in_the_schema() -> None:
    definitions = schema("load-result")["$defs"]
    for model, name in (
        (messages.Counts, "Counts"),
        (messages.Latency, "Latency"),
        (messages.Rates, "Rates"),
        (messages.Window, "Load"),
        (messages.GeneratorCpu, "Cpu"),
    ):
        assert set(model.model_fields) <= set(definitions[name]["properties"]), name


def test_every_kind_of_warning_has_its_text_with_its_figures() -> None:
    for kind in schema("load-result")["$defs"]["Warning"]["oneOf"]:
        figures = {name: 1 for name in kind["properties"] if name != "kind"}
        name = kind["properties"]["kind"]["const"]
        warning = messages.LoadWarning.model_validate(figures | {"kind": name, "state": "suspect"})
        assert TEXTS[warning.kind](generator_figures(warning))
