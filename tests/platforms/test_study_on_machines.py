"""A study on several machines, from its file to one report for all of them, for real."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.integration.conftest import Steelyard
from tests.platforms.several import MachineOfItsOwn, machines

from steelyard.engine.patience import Patience
from steelyard.hosts import lease
from steelyard.hosts.machines import open_machine
from steelyard.inference.sequential import VerdictWord
from steelyard.judge.findings import RunFindings
from steelyard.judge.kinds.caveats import MachineMissing
from steelyard.judge.visits.pairs import MACHINE
from steelyard.records.archive import Run, open_run
from steelyard.records.events import MachineLeased, Undone, UndoPlanned
from steelyard.records.schema import Outcome
from steelyard.records.sessions import last_reason

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
trials: {{margin: 10 %, budget: {{trials: 8 per cell}}, seed: 7}}
"""
LOADED = """\
study: day
question: Does a second thread serve more?
machines: [ssh://one.example, ssh://two.example]
systems:
  one: {platform: native, service: {use: sink-http}}
  more: {platform: native, service: {use: sink-http, threads: 2}}
baseline: one
workload: {use: http}
generator: {host: ssh://three.example, calibrate: false}
sample: {every: 100 ms}
trials: {margin: 50 %, window: 100 ms, warmup: 20 ms, budget: {trials: 6 per cell}}
"""


class OnMachines(Steelyard):
    """With the lease file that each of the machines has by itself."""

    @property
    def environment(self) -> dict[str, str]:
        return {**super().environment, lease.VARIABLE: f"{self.folder}/machines/locks/lease"}


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, MachineOfItsOwn]]:
    with machines(NAMES, tmp_path / "machines", monkeypatch) as found:
        yield found


@pytest.fixture
def tool(tmp_path: Path, lab: dict[str, MachineOfItsOwn]) -> OnMachines:
    addresses = ", ".join(f"ssh://{name}" for name in lab)
    (tmp_path / "day.yaml").write_text(STUDY.format(machines=addresses), encoding="utf-8")
    return OnMachines(tmp_path)


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
    assert VerdictWord.NOT_JUDGED not in words.values(), "on a busy machine one may be undecided"
    (beside,) = own.machines
    assert [each.machine for each in beside.effects] == NAMES
    assert (beside.others, beside.least_machines) == (None, 6)


def test_a_run_of_machines_goes_on_where_it_was_interrupted(tool: OnMachines) -> None:
    process = tool.start("run", "day.yaml")
    results = tool.folder / "results" / "day"
    while not list(results.glob("*/machines/three.example/trials/0002-1/record.json")):
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
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


def test_what_is_missing_on_any_machine_is_named_at_once_before_anything_is_measured(
    tool: OnMachines,
) -> None:
    text = (tool.folder / "day.yaml").read_text(encoding="utf-8")
    systems = "{a: {platform: native}, b: {platform: native, settings: {sysctl: {vm.no_such: 1}}}}"
    for before, after in (
        ("{here: {platform: native}}", systems),
        ("factors: {workload.n: [60, 300]}\ncompare: workload.n", "baseline: a"),
    ):
        text = text.replace(before, after)
    (tool.folder / "day.yaml").write_text(text, encoding="utf-8")
    done = tool.run("run", "day.yaml")
    assert done.returncode == 3
    assert "system-cannot-be-prepared" in done.stderr
    assert all(f"ssh://{name}" in done.stderr for name in NAMES)
    assert not list((tool.folder / "results").glob("day/*/machines/*/trials/*"))


def test_machines_of_another_kind_are_named_before_anything_is_measured(
    tool: OnMachines, lab: dict[str, MachineOfItsOwn]
) -> None:
    if not Path("/proc/sys/kernel/arch").exists():
        pytest.skip("kernels before 6.1 do not tell their architecture")
    study = (tool.folder / "day.yaml").read_text(encoding="utf-8")
    (tool.folder / "day.yaml").write_text(study.replace("8 per", "6 per"), encoding="utf-8")
    other = lab["two.example"]
    other.stop()
    other.architecture.write_text("sparc64\n", encoding="ascii")
    other.start()
    examined = json.loads(tool.run("doctor", "day.yaml", "--json").stdout)
    (kinds,) = (each for each in examined if each["name"] == "kinds of machines")
    assert kinds["verdict"] == "note"
    assert "two.example: architecture sparc64" in kinds["value"]
    assert "one.example, three.example: architecture" in kinds["value"]
    planned = tool.run("plan", "day.yaml", "--changes").stdout
    assert "of 2 kinds" in planned
    done = tool.run("run", "day.yaml")
    assert done.returncode == 0, done.stdout + done.stderr
    warning = next(line for line in done.stderr.splitlines() if "of 2 kinds" in line)
    assert "two.example: architecture sparc64" in warning


def test_a_machine_that_is_lost_leaves_and_the_others_say_for_how_long_until_it_is_resumed(
    tool: OnMachines, lab: dict[str, MachineOfItsOwn]
) -> None:
    process = tool.start("run", "day.yaml")
    results = tool.folder / "results" / "day"
    while not list(results.glob("*/machines/two.example/trials/0003-1/record.json")):
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    lab["two.example"].stop()
    out, err = process.communicate()
    assert process.returncode == 3, out + err
    assert "machine-cannot-be-reached" in err
    run = open_run(results)
    parts = run.machines()
    found = findings_of(run)
    (missing,) = (each for each in found.caveats if isinstance(each, MachineMissing))
    done = {name: findings_of(part).stop.visits_done for name, part in parts.items()}
    assert (missing.machine, missing.visits) == ("two.example", done["two.example"])
    assert missing.visits_most == max(done.values()) > missing.visits
    assert missing.missing_s > 0
    assert found.stop.reason == "interrupted"
    for name in ("one.example", "three.example"):
        assert last_reason(parts[name].events()) in {"decided", "budget_visits"}
    failed = [r for r in parts["two.example"].records() if r.outcome is not Outcome.OK]
    assert len(failed) <= 1

    away = tool.run("restore", str(run.path))
    assert (away.returncode, "two.example" in away.stdout) == (3, True), away.stdout + away.stderr
    lab["two.example"].start()
    restored = tool.run("restore", str(run.path))
    assert restored.returncode == 0, restored.stdout + restored.stderr
    resumed = tool.run("resume", str(run.path))
    assert resumed.returncode == 0, resumed.stdout + resumed.stderr
    found = findings_of(run)
    assert not [each for each in found.caveats if isinstance(each, MachineMissing)]
    (own,) = found.workloads
    whole = next(v for v in own.verdicts if v.conditions is None and not v.exploratory)
    assert whole.word is not VerdictWord.NOT_JUDGED, "on a busy machine it may be undecided"
    assert findings_of(parts["two.example"]).stop.visits_done > missing.visits


def test_a_generator_that_is_lost_ends_the_session_and_uses_up_no_retries(
    tool: OnMachines, lab: dict[str, MachineOfItsOwn]
) -> None:
    (tool.folder / "day.yaml").write_text(LOADED, encoding="utf-8")
    process = tool.start("run", "day.yaml")
    results = tool.folder / "results" / "day"
    while not list(results.glob("*/machines/two.example/trials/0002-1/record.json")):
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    lab["three.example"].stop()
    out, err = process.communicate()
    assert process.returncode == 3, out + err
    assert "ssh://three.example cannot be reached" in err
    parts = open_run(results).machines()
    for part in parts.values():
        assert len([r for r in part.records() if r.outcome is not Outcome.OK]) <= 1
    lab["three.example"].start()
    resumed = tool.run("resume", str(results))
    assert resumed.returncode == 0, resumed.stdout + resumed.stderr
    assert {last_reason(part.events()) for part in parts.values()} <= {"decided", "budget_visits"}


def test_a_machine_that_another_session_measures_keeps_all_from_beginning_or_is_waited_for(
    tool: OnMachines,
) -> None:
    results = tool.folder / "results"
    other = open_machine("ssh://two.example", Patience())
    try:
        lease.Leases(lease.Claimant("/runs/other", "other")).hold(other)
        refused = tool.run("run", "day.yaml")
        waits = tool.start("run", "day.yaml", "--wait")
        assert waits.stderr is not None
        while "waiting: ssh://two.example is being measured by" not in waits.stderr.readline():
            assert waits.poll() is None
        assert not list(results.glob("day/*/machines/*/trials/*"))
    finally:
        other.close()
    assert refused.returncode == 3
    assert "machine-is-in-use" in refused.stderr
    assert "/runs/other" in refused.stderr
    out, err = waits.communicate()
    assert waits.returncode == 0, out + err
