"""A cell becomes a job that the engine's schema accepts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from steelyard.plan.model import Cell
from steelyard.study.bind import bind
from steelyard.study.model import Study
from steelyard.study.read import read_study_bytes
from steelyard.workloads.load import load_job, longest_run_s

SCHEMA = json.loads(
    (Path(__file__).parents[3] / "schemas" / "load-job.schema.json").read_text(encoding="utf-8")
)
ONE = "{{platform: native, service: {{use: {sink}}}}}"
SYSTEMS = f"{{{{one: {ONE}, two: {ONE}}}}}"


def study(workload: str, load: str, sink: str = "sink-smtp") -> Study:
    text = f"""
study: jobs
question: Which job comes out?
systems: {SYSTEMS.format(sink=sink)}
workload: {workload}
load: {load}
trials: {{margin: 2 %, window: 2 s, warm_up: 0.5 s}}
"""
    return read_study_bytes(text.encode(), Path("study.yaml"))


def job(read: Study, **conditions: Any) -> dict[str, Any]:
    bound = bind(read, Cell(system="one", conditions=conditions))
    return load_job(read, bound, "127.0.0.1:2525", seed=7)


def test_users_make_a_closed_job_in_ns_and_bytes() -> None:
    got = job(
        study("{use: smtp, body: 4 KiB, recipients: 10}", "{users: [1, 4]}"), **{"load.users": 4}
    )
    assert got["mode"] == {"kind": "closed", "users": 4, "think_time_ns": 0}
    assert got["target"] == "smtp://127.0.0.1:2525"
    assert (got["warm_up_ns"], got["duration_ns"]) == (500_000_000, 2_000_000_000)
    assert got["operation"]["body_bytes"] == 4096
    jsonschema.validate(got, SCHEMA)


def test_a_rate_makes_an_open_job() -> None:
    read = study("{use: http, path: /index.html}", "{rate: [100]}", "sink-http")
    got = job(read, **{"load.rate": 100})
    assert got["mode"]["kind"] == "open"
    assert got["mode"]["rate_per_s"] == 100.0
    assert got["target"] == "http://127.0.0.1:2525/index.html"
    jsonschema.validate(got, SCHEMA)


def test_a_factor_of_the_workload_reaches_the_job() -> None:
    read = study("{use: smtp, body: [1 KiB, 8 KiB]}", "{users: [1]}")
    got = job(read, **{"load.users": 1, "workload.body": 8192})
    assert got["operation"]["body_bytes"] == 8192


def test_headers_are_cut_at_their_first_colon() -> None:
    read = study('{use: http, headers: ["X-Time: 12:30"]}', "{users: [1]}", "sink-http")
    got = job(read, **{"load.users": 1})
    assert got["operation"]["headers"] == [["X-Time", "12:30"]]
    jsonschema.validate(got, SCHEMA)


@pytest.mark.parametrize("key", ["warm_up_s", "window_s", "drain_s", "timeout_s"])
def test_a_load_run_is_given_more_time_than_its_parts(key: str) -> None:
    read = study("{use: smtp}", "{users: [1]}")
    assert longest_run_s(read) > getattr(read.trials, key)
