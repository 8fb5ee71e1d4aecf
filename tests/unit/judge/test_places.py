"""On how many machines the systems ran, and which shared theirs with the load generator."""

from __future__ import annotations

from tests.unit.judge.quick import judge_study
from tests.unit.judge.studies import a_study, measured, noisy

from steelyard.judge.findings import RunFindings
from steelyard.judge.kinds.caveats import (
    Caveat,
    GeneratorOnSameMachine,
    OneMachine,
    SeveralMachines,
)
from steelyard.judge.validity.places import machines_of
from steelyard.plan.make import make_plan
from steelyard.report.notes import text
from steelyard.study.labels import Labels
from steelyard.study.model import GeneratorSpec, ServiceSpec, Study

Facts = dict[str, dict[str, str | None]]
AT_CARRIER: Facts = {
    "system": {"cpu.model": "QEMU Virtual CPU", "machine_id.sha256": "guest"},
    "host": {"cpu.model": "EPYC", "machine_id.sha256": "iron"},
}
ON_IRON: Facts = {"system": {"cpu.model": "EPYC", "machine_id.sha256": "iron"}}
ELSEWHERE: Facts = {"system": {"cpu.model": "Xeon", "machine_id.sha256": "other"}}


def caveats(durable: Facts, study: Study | None = None) -> tuple[Caveat, ...]:
    study = study or a_study()
    plan = make_plan(study, 3)
    records = [
        r.model_copy(update={"facts": durable if r.cell.system == "durable" else ON_IRON})
        for r in measured(plan, noisy(0.8))
    ]
    found: RunFindings = judge_study(study, plan, records, run="r")
    return found.workloads[0].caveats


def moved(host_machine: str, generator: str = "local") -> Study:
    study = a_study()
    other = study.systems["durable"].model_copy(update={"host_machine": host_machine})
    systems = study.systems | {"durable": other}
    return study.model_copy(update={"systems": systems, "generator": GeneratorSpec(host=generator)})


def test_a_guest_and_the_machine_that_carries_it_are_one_machine() -> None:
    assert caveats(AT_CARRIER)[0] == OneMachine(processor="EPYC", kernel=None)


def test_systems_on_two_machines_are_not_called_one() -> None:
    found = caveats(ELSEWHERE)[0]
    assert found == SeveralMachines(systems=(("durable",), ("fast",))) or found == SeveralMachines(
        systems=(("fast",), ("durable",))
    )
    assert text(found, Labels()).startswith("Measured on 2 machines (")


def test_servers_at_one_address_are_not_called_two_machines() -> None:
    study = a_study()
    systems = {
        name: spec.model_copy(
            update={
                "platform": "external",
                "service": ServiceSpec(use="external", settings={"address": f"127.0.0.1:{port}"}),
            }
        )
        for port, (name, spec) in enumerate(study.systems.items(), start=8001)
    }
    records = measured(make_plan(study, 3), noisy(0.8))
    bare = [record.model_copy(update={"facts": {}}) for record in records]
    external = study.model_copy(update={"systems": systems})
    assert len(set(machines_of(external, bare).values())) == 1


def test_the_load_shares_processors_only_where_it_comes_from() -> None:
    def shared(study: Study) -> list[Caveat]:
        return [c for c in caveats(ON_IRON, study) if isinstance(c, GeneratorOnSameMachine)]

    assert shared(a_study()) == [GeneratorOnSameMachine()]
    assert shared(moved("ssh://board")) == [GeneratorOnSameMachine(systems=("fast",))]
    assert shared(moved("local", generator="ssh://loader")) == []
    board = shared(moved("ssh://board", generator="ssh://board"))
    assert board == [GeneratorOnSameMachine(systems=("durable",))]
    assert text(board[0], Labels()).endswith("shared its processors with durable only")
