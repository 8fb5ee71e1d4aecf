from __future__ import annotations

import pytest
from tests.golden.report_findings import changed
from tests.unit.judge.several_workloads import judged
from tests.unit.report.golden_findings import CASES, golden

from steelyard.judge.kinds.caveats import CleanupIncomplete, OneMachine
from steelyard.judge.kinds.checks import FactChanged
from steelyard.judge.kinds.verdict_notes import NoVisits, ValueUnusable
from steelyard.judge.validity.findings import DifferenceFinding
from steelyard.records.events import EnvironmentDifference
from steelyard.records.missing import Quoted
from steelyard.report.anonymous import WITHHELD, anonymous, anonymous_text
from steelyard.report.formats.markdown import markdown_text


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("no space in /home/ann/results/a-1", "no space in <path>"),
        ("cannot write /proc/sys/vm/swappiness", "cannot write /proc/sys/vm/swappiness"),
        ("ssh://root@lab-7 did not answer", "ssh://<machine> did not answer"),
        ("nbd://store-7:10809/data is gone", "nbd://<machine>:10809/data is gone"),
        ("10.3.4.5:25 refused, 127.0.0.1:25 too", "<address>:25 refused, 127.0.0.1:25 too"),
        ("card 52:54:00:12:34:56 is gone", "card <hardware address> is gone"),
        ("kernel 6.1.0-21-cloud of ann-pc", "kernel 6.1.0 of <machine>"),
        ("qemu: CPU #/TCG, IO mon_iothread", "qemu: CPU #/TCG, IO mon_iothread"),
        ("7 of 12 trials, 3.5 messages/s at 1/2", "7 of 12 trials, 3.5 messages/s at 1/2"),
    ],
)
def test_what_names_a_machine_goes_and_the_rest_stays(said: str, left: str) -> None:
    assert anonymous_text(said, ["ann-pc"]) == left


def test_a_machine_that_is_called_like_a_folder_of_the_kernel_takes_no_name_from_it() -> None:
    said = "vm: /proc/sys/vm/dirty_ratio is 20, and so on vm/guest"
    left = "<machine>: /proc/sys/vm/dirty_ratio is 20, and so on <machine>/guest"
    assert anonymous_text(said, ["vm"]) == left


@pytest.mark.parametrize("case", sorted(set(CASES) - {"failed"}))
def test_findings_that_name_no_machine_stay_as_they_are(case: str) -> None:
    findings = golden(case)
    assert anonymous(findings, ["some-host"]) == findings


def test_a_message_and_a_fact_that_name_a_machine_are_cleaned() -> None:
    plain = golden("failed")
    attempt = plain.attempts[0].model_copy(update={"message": "ann-pc: /home/ann/x is full"})
    facts = {"hostname": "ann-pc", "kernel.release": "6.1.0-21-cloud", "cpu.count": "2"}
    differences = tuple(
        DifferenceFinding(fact=fact, values={"fast": value, "durable": None}, declared=False)
        for fact, value in facts.items()
    )
    named = plain.model_copy(update={"attempts": (attempt,), "differences": differences})
    found = anonymous(named, ["ann-pc"])
    assert found.attempts[0].message == "<machine>: <path> is full"
    assert [d.values["fast"] for d in found.differences] == [WITHHELD, "6.1.0", "2"]
    assert all(d.values["durable"] is None for d in found.differences)
    assert "ann-pc" not in markdown_text(found)


def test_a_host_that_is_called_like_a_system_leaves_the_system_its_name() -> None:
    findings = golden("decided")
    assert anonymous(findings, list(findings.systems)) == findings


def test_a_host_that_is_called_like_a_system_of_another_variant_leaves_the_study_as_it_is() -> None:
    text = "systems:\n  one: {platform: native}\n  vm: {platform: qemu}\n# run on lab-7\n"
    run = golden("plain").model_copy(update={"study_text": text})
    assert anonymous(run, {"vm", "lab-7"}).study_text == text.replace("lab-7", "<machine>")


def test_levels_of_the_study_stay_so_that_every_verdict_still_finds_its_condition() -> None:
    plain = golden("decided")
    at = {"system.image": "/srv/images/base.qcow2"}
    verdict = (
        plain.workloads[0]
        .verdicts[0]
        .model_copy(
            update={"conditions": at, "notes": (NoVisits(system="/srv/a/b"), _missing("/srv/a/b"))}
        )
    )
    found = anonymous(changed(plain, conditions=(at,), verdicts=(verdict,)))
    assert found.workloads[0].verdicts[0].conditions == found.workloads[0].conditions[0] == at
    assert found.workloads[0].verdicts[0].notes == (NoVisits(system="/srv/a/b"), _missing("<path>"))


def _missing(reason: str) -> ValueUnusable:
    return ValueUnusable(
        system="fast", trials=1, value="missing", reason=Quoted(kind="tool_reported", said=reason)
    )


def test_what_a_workload_of_several_says_of_a_machine_goes_too() -> None:
    several = judged()
    told = tuple(
        each.model_copy(update={"diagnostics": (FactChanged(fact="mount /tmp/ann of ann-pc"),)})
        for each in several.workloads
    )
    found = anonymous(several.model_copy(update={"workloads": told}), ["ann-pc"])
    checks = {check for each in found.workloads for check in each.diagnostics}
    assert checks == {FactChanged(fact="mount <path> of <machine>")}
    assert anonymous(several) == several


def test_a_caveat_keeps_its_kind_and_a_kernel_without_what_its_vendor_adds() -> None:
    machine = OneMachine(processor="Example 9000", kernel="6.1.0-21-cloud-amd64")
    left = EnvironmentDifference(
        machine="ann-pc", kind="mount", name="/home/ann", before=None, after="/dev/vdb"
    )
    named = golden("plain").model_copy(
        update={"caveats": (machine, CleanupIncomplete(count=1, differences=(left,)))}
    )
    found = anonymous(named, ["ann-pc", "one_machine", "cleanup_incomplete"]).caveats
    assert found[0] == machine.model_copy(update={"kernel": "6.1.0"})
    cleaned = left.model_copy(update={"machine": "<machine>", "name": "<path>"})
    assert found[1] == CleanupIncomplete(count=1, differences=(cleaned,))
