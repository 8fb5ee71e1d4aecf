"""A study of several workloads and a scenario, from its file to its report, for real."""

from __future__ import annotations

import json

import pytest

from steelyard.judge.findings import RunFindings
from steelyard.judge.kinds.caveats import WorkloadDecided, WorkloadFutility
from steelyard.records.archive import Run, open_run
from steelyard.records.events import WorkloadsEliminated, WorkloadStopped
from steelyard.report.view import NO_GRAND_MEAN
from tests.integration.conftest import Steelyard, assert_each_ended_well, with_an_event

STUDY = """\
study: mixed
question: Does the second of two equal places serve or compute less?
systems: {one: {platform: native}, two: {platform: native}}
workloads:
  web: {use: http, service: {use: sink-http, body: 1 KiB}}
  cpu: {use: linpack, n: 120}
load: {users: [1]}
gates: {errors: none}
scenarios:
  alone: {1: cpu}
  both:  {1: [web, cpu]}
judge: {consolidation: true}
sample: {every: 100 ms}
generator: {calibrate: false}
trials: {margin: 50 %, window: 100 ms, warmup: 20 ms, drain: 100 ms, budget: {trials: 6 per cell}}
"""


@pytest.fixture
def run(steelyard: Steelyard) -> Run:
    steelyard.folder.joinpath("mixed.yaml").write_text(STUDY, encoding="utf-8")
    done = steelyard.run("run", "mixed.yaml", "--seed", "5", "--format", "html,md")
    assert done.returncode == 0, done.stdout + done.stderr
    rows = [line.split(":")[0].strip() for line in done.stdout.splitlines()]
    assert {"web", "cpu"} <= set(rows)
    return open_run(steelyard.folder / "results" / "mixed")


def test_two_unlike_workloads_are_measured_in_every_visit_and_judged_apart(
    run: Run, steelyard: Steelyard
) -> None:
    assert_each_ended_well(run.records())
    records = [record for record in run.records() if record.outcome == "ok"]
    first = [record for record in records if record.visit == 1]
    assert {(r.cell.conditions["workload"], r.cell.conditions["scenario"]) for r in first} == {
        ("web", "both"), ("cpu", "alone"), ("cpu", "both"),
    }  # fmt: skip
    for record in records:
        measured, beside = record.instances[0].workload, record.instances[0].background
        other = {"http": "linpack", "linpack": "http"}[measured]
        assert beside == ((other,) if record.cell.conditions["scenario"] == "both" else ())
        assert ("service.use" in record.facts["system"]) == (measured == "http" or bool(beside))
        assert ("throughput" in record.responses) == (measured == "http")
        assert ("linpack.rate" in record.responses) == (measured == "linpack")

    findings = _findings(run)
    primary = {
        each.name: [r.name for r in each.responses if r.primary] for each in findings.workloads
    }
    assert primary == {"web": ["throughput"], "cpu": ["linpack.rate"]}
    for each in findings.workloads:
        assert each.verdicts[0].n_baseline + each.verdicts[0].n_other >= 8
        assert {verdict.alpha for verdict in each.verdicts if not verdict.exploratory} == {0.025}
    beside = [c.interference for c in findings.workloads[1].consolidation]
    assert [each.background for each in beside if each is not None] == [("web",), ("web",)]

    text = (run.report_path / "report.md").read_text(encoding="utf-8")
    assert "\n## web\n" in text
    assert "\n## cpu\n" in text
    assert NO_GRAND_MEAN in text
    assert (run.report_path / "report.html").exists()


APART = """\
study: apart
question: Which of two workloads tells the places apart?
systems:
  plain: {platform: native, service: {use: sink-http}}
  slow:  {platform: native, service: {use: sink-http, delay: 5 ms}}
workloads:
  web: {use: http}
  cpu: {use: linpack, n: 100}
generator: {calibrate: false}
judge: {guardrails: {}}
trials: {margin: 0.1 %, window: 200 ms, warmup: 0 s, drain: 100 ms, budget: {trials: 7 per cell}}
"""


@pytest.mark.extended
def test_a_decided_workload_is_left_out_of_the_visits_that_follow(steelyard: Steelyard) -> None:
    steelyard.folder.joinpath("apart.yaml").write_text(APART, encoding="utf-8")
    said: list[str] = []

    def run_it(seed: str) -> Run:
        done = steelyard.run("run", "apart.yaml", "--seed", seed)
        assert done.returncode == 0, done.stdout + done.stderr
        said.append(done.stderr)
        return open_run(steelyard.folder / "results" / "apart")

    run = with_an_event("workloads_eliminated", steelyard, run_it)
    assert "left out of later visits" in said[-1]
    left, *later = [event for event in run.events() if isinstance(event, WorkloadsEliminated)]
    assert left.remaining == {"web": (), "cpu": ("plain", "slow")}
    if later:
        return  # the equal ones were distinguished: rare, and allowed
    of: dict[str, list[int]] = {"web": [], "cpu": []}
    before = run.records()
    for record in before:
        if record.attempt == 1:
            of[str(record.cell.conditions["workload"])].append(record.visit)
    assert of["web"] == list(range(1, left.block))
    assert of["cpu"] == list(range(1, 15))
    findings = _findings(run)
    assert findings.stop.visits_done == 14
    web, cpu = findings.workloads
    assert web.verdicts[0].word == "slower"
    assert cpu.verdicts[0].word == "undecided"
    assert WorkloadDecided(last_visit=left.block - 1) in web.caveats

    again = steelyard.run("resume", "results/apart")
    assert again.returncode == 0, again.stderr
    assert len(run.records()) == len(before)


LOST = (
    APART.replace("study: apart", "study: lost")
    .replace("{use: http}", "{command: [/bin/false]}")
    .replace("0 s, drain", "0 s, retry: 0, drain")
)


@pytest.mark.extended
def test_a_workload_that_is_futile_leaves_and_the_others_go_on(
    steelyard: Steelyard,
) -> None:
    steelyard.folder.joinpath("lost.yaml").write_text(LOST, encoding="utf-8")
    done = steelyard.run("run", "lost.yaml", "--seed", "5")
    assert done.returncode == 1, "the primary response of a workload was never measured"
    assert "web was stopped on slow for futility" in done.stderr
    run = open_run(steelyard.folder / "results" / "lost")
    (left,) = [event for event in run.events() if isinstance(event, WorkloadStopped)]
    assert (left.workload, left.stopped_on) == ("web", ("plain", "slow"))
    of: dict[str, list[int]] = {"web": [], "cpu": []}
    for record in run.records():
        of[str(record.cell.conditions["workload"])].append(record.visit)
    assert of["web"] == list(range(1, left.visit + 1))
    assert left.visit <= 6
    assert of["cpu"] == list(range(1, 15))
    web, cpu = _findings(run).workloads
    (stopped,) = [each for each in web.caveats if isinstance(each, WorkloadFutility)]
    assert stopped.reasons["slow"].failed_visits == (1, 3, 4)
    assert not any(isinstance(each, WorkloadDecided) for each in web.caveats)
    assert not any(isinstance(each, WorkloadFutility) for each in cpu.caveats)

    steelyard.run("resume", "results/lost")
    assert len(run.records()) == len(of["web"]) + len(of["cpu"])


def _findings(run: Run) -> RunFindings:
    document = (run.report_path / "findings.json").read_text(encoding="utf-8")
    return RunFindings.model_validate(json.loads(document))
