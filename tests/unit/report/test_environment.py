"""What a report says of the machines, from the facts of the records."""

from __future__ import annotations

import pytest
from tests.unit.judge.test_confounders import found_with
from tests.unit.report.golden_findings import golden

from steelyard.judge.findings import RunFindings
from steelyard.judge.validity.findings import MachineFinding
from steelyard.report.anonymous import anonymous
from steelyard.report.formats.html import render
from steelyard.report.tables.environment import environment_table

FACTS = {
    "cpu.model": "EPYC",
    "cpu.count": "4",
    "cgroup.cpu_quota_us": "150000",
    "cgroup.cpu_period_us": "100000",
    "memory.total_bytes": str(4 * 2**30),
    "cgroup.memory_bytes": str(2**30),
    "disk.vda.size_sectors": str(2 * 2**20),
    "kernel.release": "6.1.0-18-amd64+vendor",
    "os.name": "Debian GNU/Linux 12 (bookworm)",
    "platform.qemu.accelerator": "tcg",
    "virtualization.guest_flag": "true",
    "virtualization.hypervisor": "qemu",
    "service.version": "3.7.10",
}


def told(*machines: MachineFinding) -> dict[str, tuple[str, ...]]:
    run = golden("decided").model_copy(update={"machines": machines})
    return {row[0]: row[1:] for row in environment_table(run).rows}


def machine(system: str, facts: dict[str, str]) -> MachineFinding:
    return MachineFinding(machine="system", systems=(system,), facts=facts)


@pytest.mark.parametrize(
    ("row", "text"),
    [
        ("Processor", "EPYC"),
        ("Cores", "4, limited to 1.5"),
        ("Memory", "4 GiB, limited to 1 GiB"),
        ("Disks", "vda 1 GiB"),
        ("Kernel", "6.1.0-18-amd64+vendor"),
        ("Distribution", "Debian GNU/Linux 12 (bookworm)"),
        ("Virtualisation", "virtual machine (qemu)"),
        ("Accelerator", "TCG: emulated, without KVM"),
        ("Service", "3.7.10"),
    ],
)
def test_a_machine_is_reported_in_rows_with_units(row: str, text: str) -> None:
    assert told(machine("fast", FACTS))[row] == (text,)


def test_a_row_that_one_machine_lacks_is_empty_there_and_one_that_all_lack_is_left_out() -> None:
    rows = told(machine("fast", {"cpu.model": "EPYC"}), machine("durable", {"cpu.count": "2"}))
    assert rows["Processor"] == ("EPYC", "–")
    assert "Memory" not in rows


def alike(run: RunFindings) -> list[tuple[str, ...]]:
    return [each.systems for each in run.machines if each.machine == "system"]


def test_systems_on_machines_that_are_alike_share_one_column() -> None:
    same = found_with({"cpu.model": "EPYC"}, {"cpu.model": "EPYC"})
    other = found_with({"cpu.model": "EPYC"}, {"cpu.model": "Xeon"})
    assert set(*alike(same)) == set(same.systems)
    assert len(alike(other)) == len(other.systems)


def test_for_publication_a_kernel_has_its_version_only_and_the_study_no_path() -> None:
    given = golden("decided").model_copy(
        update={
            "machines": (machine("fast", FACTS),),
            "study_text": "key: /home/someone/secret/key\n",
        }
    )
    published = anonymous(given)
    assert published.machines[0].facts["kernel.release"] == "6.1.0"
    assert "someone" not in published.study_text


def test_the_study_stands_in_the_page_in_full_as_text() -> None:
    text = "name: x  # <b>& all that</b>\nsystems: {}\n"
    html = render(golden("decided").model_copy(update={"study_text": text}))
    assert "<code>name: x  # &lt;b&gt;&amp; all that&lt;/b&gt;\nsystems: {}\n</code>" in html
