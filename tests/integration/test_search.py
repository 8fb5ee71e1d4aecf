"""A search for the largest load from its study file to its report, with the real engine."""

from __future__ import annotations

import json

import pytest

from steelyard.judge.findings import RunFindings
from steelyard.records.archive import open_run
from tests.integration.conftest import Steelyard

STUDY = """
study: carried
question: How many users can be had before 175 requests a second are too many?
systems:
  quick: {platform: native, service: {use: sink-http, delay: 20 ms}}
  slow:  {platform: native, service: {use: sink-http, delay: 40 ms}}
workload: {use: http}
load: {users: [1]}
find: {capacity: {throughput: at most 175, errors: none}}
responses: {throughput: {primary: true}}
generator: {calibrate: false}
trials: {margin: 5 %, window: 200 ms, warmup: 0 s, drain: 50 ms, budget: {trials: 6 per cell}}
"""

MOST_MISLED = 2
"""Searches that find no end, because a busy machine stood still for a whole window."""


def test_every_visit_finds_what_its_system_carries(steelyard: Steelyard) -> None:
    """A user of the quick one asks 50 times a second at most, of the slow one 25 times."""
    steelyard.folder.joinpath("find.yaml").write_text(STUDY, encoding="utf-8")
    done = steelyard.run("run", "find.yaml")
    assert done.returncode in (0, 1), done.stderr
    run = open_run(steelyard.folder / "results" / "carried")
    searches = sorted((run.path / "trials").glob("*/search.json"))
    found = [json.loads(path.read_text(encoding="utf-8")) for path in searches]
    whole = [search for search in found if search["missing"] is None]
    assert len(found) - len(whole) <= MOST_MISLED
    assert whole
    for search in whole:
        assert search["steps"][0]["load"] == 1
        assert search["steps"][-1]["final"]
        assert search["steps"][-1]["load"] == search["found"]
    document = (run.report_path / "findings.json").read_text(encoding="utf-8")
    quick, slow = RunFindings.model_validate(json.loads(document)).workloads[0].capacities
    assert quick.unit == "users"
    assert [(each.response, each.limit) for each in quick.targets] == [
        ("throughput", "at most 175"),
        ("errors", "none"),
    ]
    assert quick.median == pytest.approx(3, abs=1)
    assert slow.median == pytest.approx(7, abs=2)
    assert "find capacity: ok" in done.stderr + done.stdout
