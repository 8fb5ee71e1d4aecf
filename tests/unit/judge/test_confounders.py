"""What differs beside what is compared: ranked, derived from the study file, accepted, named."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.unit.judge.quick import judge_study
from tests.unit.judge.studies import a_study, measured, noisy

from steelyard.judge.findings import RunFindings
from steelyard.judge.kinds.caveats import AcceptedNotFound
from steelyard.judge.kinds.checks import FactChanged, FactsFollow, StudyCheck
from steelyard.judge.validity.facts import is_declared, subject_of
from steelyard.judge.validity.findings import DifferenceFinding
from steelyard.plan.make import make_plan
from steelyard.plan.model import PlannedTrial
from steelyard.report.sentences.assumptions import caveat_lines
from steelyard.report.sentences.differences import difference_lines
from steelyard.study.read import read_study_bytes

BOTH = {"kernel.release": "6.1", "memory.total_bytes": "8589934592"}


def found_with(
    fast: dict[str, str], durable: dict[str, str], accepted: dict[str, str] | None = None
) -> RunFindings:
    study = a_study().model_copy(update={"accepted_differences": accepted or {}})
    plan = make_plan(study, 3)
    own = {"fast": fast, "durable": durable}
    records = [
        r.model_copy(update={"facts": {"system": {**BOTH, **own[r.cell.system]}}})
        for r in measured(plan, noisy(0.8))
    ]
    return judge_study(study, plan, records, run="r")


def undeclared(run: RunFindings) -> list[DifferenceFinding]:
    return [each for each in run.differences if not each.declared]


def test_a_fact_that_only_one_system_has_sets_it_apart_and_is_named() -> None:
    run = found_with({}, {"platform.qemu.accelerator": "tcg"})
    (one,) = undeclared(run)
    assert (one.subject, one.values) == ("accelerator", {"fast": None, "durable": "tcg"})
    (line,) = difference_lines(run)
    assert "platform.qemu.accelerator (fast not reported, durable emulated, no KVM)" in line


def test_a_quantity_of_a_setting_has_its_unit() -> None:
    run = found_with({"service.delay": "0.0015"}, {"service.delay": "0.004"})
    (delay,) = [each for each in run.differences if each.fact == "service.delay"]
    assert delay.values == {"fast": "1.5 ms", "durable": "4 ms"}


def test_what_explains_most_comes_first_and_three_subjects_are_named() -> None:
    other = {
        "cgroup.memory_bytes": "1073741824",
        "net.eth0.mtu": "9000",
        "net.eth0.speed": "10",
        "kernel.release": "6.5",
        "service.version": "2",
        "hostname": "b",
        "machine_id.sha256": "x",
    }
    run = found_with({"hostname": "a"}, other)
    assert [each.fact for each in undeclared(run)] == [
        "cgroup.memory_bytes", "kernel.release", "net.eth0.mtu", "service.version",
        "net.eth0.speed", "hostname", "machine_id.sha256",
    ]  # fmt: skip
    (line,) = difference_lines(run)
    assert line == (
        "5 undeclared differences between the systems: cgroup.memory_bytes (fast not reported, "
        "durable 1 GiB); kernel.release "
        "(fast 6.1, durable 6.5); net.eth0.mtu (fast not reported, durable 9000); and 2 more."
    )


def test_facts_that_say_most_come_before_lists_of_flags_and_parameters() -> None:
    own = {"thp": "madvise", "cpu.flags": "fpu vme", "cpu.model": "EPYC"}
    other = {"thp": "never", "cpu.flags": "fpu", "cpu.model": "TCG", "clocksource": "x"}
    run = found_with(own, {**other, "platform.qemu.accelerator": "tcg"})
    facts = [each.fact for each in undeclared(run)]
    assert facts == ["cpu.model", "platform.qemu.accelerator", "clocksource", "thp", "cpu.flags"]


def test_what_the_study_accepts_is_reported_with_its_reason_and_not_counted() -> None:
    run = found_with({}, {"kernel.release": "6.5"}, {"kernel.release": "the release is compared"})
    assert difference_lines(run) == [
        "kernel.release differs between the systems, accepted: the release is compared."
    ]


def test_an_accepted_difference_that_is_none_is_reported() -> None:
    run = found_with(
        {}, {"kernel.release": "6.5"}, {"kernel.release": "it is", "kernel.relaese": "x"}
    )
    assert run.caveats == (AcceptedNotFound(facts=("kernel.relaese",)),)
    assert caveat_lines(run)[-1] == (
        "The study accepts that the systems differ in kernel.relaese, and no such difference was "
        "found."
    )
    assert found_with({}, {"kernel.release": "6.5"}, {"kernel.release": "it is"}).caveats == ()


def test_devices_that_any_program_makes_set_no_system_apart() -> None:
    devices = ("loop3", "nbd0", "zram0")
    own = {f"disk.{name}.size_sectors": "2048" for name in devices}
    assert undeclared(found_with({}, own)) == []
    (disk,) = undeclared(found_with({}, {"disk.sdb.size_sectors": "2048"}))
    assert disk.subject == "disk"


def test_a_fact_that_differs_between_visits_of_one_system_sets_none_apart() -> None:
    def found(*of_durable: str | None) -> list[str]:
        study = a_study()
        plan = make_plan(study, 3)
        records = [
            record.model_copy(
                update={
                    "facts": {
                        "system": {"disk.sdb.scheduler": "none"}
                        if record.cell.system == "fast"
                        else {"disk.sdb.scheduler": of_durable[record.visit % len(of_durable)]}
                    }
                }
            )
            for record in measured(plan, noisy(0.8))
        ]
        return [each.fact for each in undeclared(judge_study(study, plan, records, run="r"))]

    assert found("bfq") == ["disk.sdb.scheduler"]
    assert found("bfq", "kyber") == []
    assert found("bfq", None) == ["disk.sdb.scheduler"], "what could not be read is no other value"


def test_facts_that_identify_a_machine_are_not_counted() -> None:
    assert difference_lines(found_with({"hostname": "a"}, {"hostname": "b"})) == []


@pytest.mark.parametrize(
    ("fact", "declared", "follows"),
    [
        ("cgroup.memory_bytes", {"system.memory": {"a": None, "b": "1"}}, True),
        ("cpu.count", {"system.cpus": {"a": None, "b": "1"}}, True),
        ("cpu.count", {"system.memory": {"a": None, "b": "1"}}, False),
        ("service.version", {"service.use": {"a": "nginx", "b": "apache"}}, True),
        ("platform.qemu.version", {"system.platform": {"a": "native", "b": "qemu"}}, True),
        ("platform.qemu.accelerator", {"system.accel": {"a": None, "b": "auto"}}, False),
        ("platform.qemu.accelerator", {"system.accel": {"a": "kvm", "b": "tcg"}}, True),
        ("disks.data.mkfs.version", {"disks.data.filesystem": {"a": "ext4", "b": "xfs"}}, True),
        ("disks.data.mkfs", {"disks.data.size": {"a": "1", "b": "2"}}, False),
        ("sysctl.vm.swappiness", {"settings.tuned": {"a": "off", "b": "balanced"}}, True),
        ("setting.tuned.changed", {"settings.tuned": {"a": "off", "b": "balanced"}}, True),
        ("setting.tuned.errors", {"settings.tuned": {"a": "off", "b": "balanced"}}, False),
        ("platform.confined.by", {"system.confine": {"a": None, "b": "{'cpus': 2}"}}, True),
        ("disks.data.array.level", {"disks.data.layout": {"a": "single", "b": "raid0"}}, True),
        ("disks.data.mounted_with", {"disks.data.layout": {"a": "single", "b": "raid0"}}, True),
        ("disk.vda.scheduler", {"disks.data.layout": {"a": "single", "b": "raid0"}}, False),
        ("sysctl.net.core.busy_poll", {"system.network": {"a": "host", "b": "lab"}}, False),
    ],
)
def test_what_follows_from_the_study_file_is_declared(
    fact: str, declared: dict[str, dict[str, str | None]], *, follows: bool
) -> None:
    assert is_declared(fact, declared) is follows


def test_what_a_network_of_its_own_hides_from_a_system_follows_from_that_network() -> None:
    declared = {"system.network": {"a": "host", "b": "lab"}}
    assert is_declared("sysctl.net.core.busy_poll", declared, seen_by_all=False)
    assert not is_declared("sysctl.kernel.numa_balancing", declared, seen_by_all=False)


def test_devices_that_only_one_layout_of_disks_has_follow_from_it() -> None:
    declared = {"disks.data.layout": {"a": "single", "b": "raid0"}}
    assert is_declared("disk.md0.scheduler", declared, seen_by_all=False)
    assert not is_declared("disk.md0.scheduler", {}, seen_by_all=False)


def checks_with(facts: Callable[[PlannedTrial], dict[str, str | None]]) -> list[StudyCheck]:
    """What the checks say of facts, by trial, of a study at 1 and at 4 users."""
    study = a_study()
    plan = make_plan(study, 3)
    trials = {(t.trial): t for visit in plan.visits for t in visit.trials}
    records = [
        r.model_copy(update={"facts": {"system": facts(trials[r.trial])}})
        for r in measured(plan, noisy(0.8))
    ]
    (own,) = judge_study(study, plan, records, run="r").workloads
    return [each for each in own.diagnostics if isinstance(each, FactChanged | FactsFollow)]


def test_facts_that_change_with_a_declared_factor_are_said_to_follow_from_it() -> None:
    def facts(trial: PlannedTrial) -> dict[str, str | None]:
        level = str(trial.cell.conditions["load.users"])
        return {"load.users": level, "service.sync": level, "disks.data.layout": f"raid{level}"}

    (one,) = checks_with(facts)
    assert one == FactsFollow(facts=("disks.data.layout", "service.sync"), factors=("load.users",))


def test_a_fact_that_changes_at_some_time_follows_from_no_factor() -> None:
    (one,) = checks_with(lambda trial: {"kernel.release": "6.1" if trial.visit < 9 else "6.5"})
    assert one == FactChanged(fact="kernel.release")


def test_facts_of_other_machines_have_the_subject_of_the_fact() -> None:
    assert subject_of("host: kernel.release") == "kernel"
    assert subject_of("host: memory.total_bytes") == "memory"


def test_accepted_differences_are_read_from_the_study_file() -> None:
    text = b"""
study: accepts
question: Is it faster in a guest?
systems:
  one: {platform: native, service: {use: sink-http}}
  two: {platform: native, service: {use: sink-http}}
baseline: one
workload: {use: http}
load: {users: 1}
trials: {margin: 5 %, window: 1 s}
accepted_differences: {kernel.release: it is that of the distribution}
"""
    study = read_study_bytes(text, Path("study.yaml"))
    assert study.accepted_differences == {"kernel.release": "it is that of the distribution"}
