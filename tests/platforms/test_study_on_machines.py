"""A study on several machines, from its file to one report for all of them, for real."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.integration.conftest import Steelyard
from tests.platforms.several import machines

from steelyard.hosts import lease
from steelyard.inference.sequential import DECIDED
from steelyard.judge.findings import RunFindings
from steelyard.judge.visits.pairs import MACHINE
from steelyard.records.archive import Run, open_run
from steelyard.records.events import MachineLeased, Undone, UndoPlanned

NAMES = ["one.example", "two.example", "three.example"]
STUDY = """\
study: day
question: Are large systems of equations solved as often as small ones?
machines: [{machines}]
systems: {{here: {{platform: native}}}}
factors: {{workload.n: [60, 300]}}
compare: workload.n
workload: {{use: linpack}}
sample: {{every: 100 ms}}
trials: {{margin: 10 %, budget: {{trials: 12 per cell}}, seed: 7}}
"""


class OnMachines(Steelyard):
    """With the lease file that each of the machines has by itself."""

    @property
    def environment(self) -> dict[str, str]:
        return {**super().environment, lease.VARIABLE: f"{self.folder}/machines/locks/lease"}


@pytest.fixture
def tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[OnMachines]:
    with machines(NAMES, tmp_path / "machines", monkeypatch):
        addresses = ", ".join(f"ssh://{name}" for name in NAMES)
        (tmp_path / "day.yaml").write_text(STUDY.format(machines=addresses), encoding="utf-8")
        yield OnMachines(tmp_path)


def findings_of(run: Run) -> RunFindings:
    text = (run.report_path / "findings.json").read_text(encoding="utf-8")
    return RunFindings.model_validate_json(text)


def test_each_machine_has_an_order_of_its_own_and_all_have_one_report(tool: OnMachines) -> None:
    planned = tool.run("plan", "day.yaml", "--json")
    plans = json.loads(planned.stdout)["machines"]
    done = tool.run("run", "day.yaml", "--format", "html,md,csv")
    assert done.returncode == 0, done.stdout + done.stderr

    run = open_run(tool.folder / "results" / "day")
    parts = run.machines()
    assert list(parts) == list(plans) == NAMES
    assert [part.plan().assignment for part in parts.values()] == [
        tuple(plan["assignment"]) for plan in plans.values()
    ]
    assert len({part.plan().assignment for part in parts.values()}) == len(NAMES)
    for part in parts.values():
        events = part.events()
        planned_undos = {e.undo for e in events if isinstance(e, UndoPlanned)}
        assert planned_undos == {e.undo for e in events if isinstance(e, Undone)}
        assert (part.report_path / "report.html").exists()
    leased = [
        (name, event.machine)
        for name, part in parts.items()
        for event in part.events()
        if isinstance(event, MachineLeased)
    ]
    assert {machine for _, machine in leased} == {"local", *(f"ssh://{name}" for name in NAMES)}

    (own,) = findings_of(run).workloads
    words = {(v.conditions or {}).get(MACHINE): v.word for v in own.verdicts if not v.exploratory}
    assert set(words) == {None, *NAMES}
    assert set(words.values()) <= DECIDED
    (beside,) = own.machines
    assert [each.machine for each in beside.effects] == NAMES
    assert (beside.others, beside.least_machines) == (None, 6)


def test_a_run_of_machines_goes_on_where_it_was_interrupted(tool: OnMachines) -> None:
    process = tool.start("run", "day.yaml")
    results = tool.folder / "results" / "day"
    while not list(results.glob("*/machines/three.example/trials/0002-1/record.json")):
        assert process.poll() is None, process.communicate()
    process.send_signal(2)
    process.communicate()
    assert process.returncode == 130
    run = open_run(results)
    before = {name: len(part.records()) for name, part in run.machines().items()}
    assert max(before.values()) - min(before.values()) <= 1
    done = tool.run("resume", str(run.path))
    assert done.returncode == 0, done.stdout + done.stderr
    assert findings_of(run).stop.reason != "interrupted"
    for name, part in run.machines().items():
        trials = [(record.trial, record.attempt) for record in part.records()]
        assert len(trials) == len(set(trials)) > before[name]


@pytest.mark.parametrize(
    ("machines_there", "slug"),
    [
        ("ssh://one.example, ssh://nowhere.invalid", "machine-cannot-be-reached"),
        ("ssh://one.example, ssh://also-one.example", "machine-is-named-twice"),
    ],
)
def test_a_machine_that_is_away_or_there_twice_is_refused_before_anything_is_measured(
    tool: OnMachines, machines_there: str, slug: str
) -> None:
    config = tool.folder / "machines" / "config"
    known = config.read_text(encoding="utf-8")
    config.write_text(known.replace("Host one.example", "Host one.example also-one.example"))
    study = STUDY.format(machines=machines_there)
    (tool.folder / "day.yaml").write_text(study, encoding="utf-8")
    done = tool.run("run", "day.yaml")
    assert done.returncode == 3
    assert slug in done.stderr
    assert not list((tool.folder / "results").glob("day/*/machines/*/trials/*"))
