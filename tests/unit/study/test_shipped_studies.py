"""Every study that is shipped can be planned, in every variant, and is in the list."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from steelyard.plan.make import make_plan
from steelyard.study.read import read_study

STUDIES = Path(__file__).parents[3] / "studies"
NAMES = sorted(path.parent.name for path in STUDIES.glob("*/study.yaml"))
CAPITALS = re.compile(r"^  # (\w+: +\{platform: )", re.MULTILINE)


@pytest.mark.parametrize("name", NAMES)
def test_a_study_and_all_its_variants_can_be_planned(name: str) -> None:
    whole = read_study(STUDIES / name / "study.yaml")
    for variant in (None, *whole.variants):
        study = read_study(STUDIES / name / "study.yaml", variant=variant)
        assert make_plan(study, seed=1).every_visit


@pytest.mark.parametrize("name", NAMES)
def test_a_study_has_a_page_with_its_command_and_is_in_the_list(name: str) -> None:
    page = (STUDIES / name / "README.md").read_text(encoding="utf-8")
    assert page.startswith("# ")
    assert f"steelyard run studies/{name}" in page
    assert f"]({name}/README.md)" in (STUDIES / "README.md").read_text(encoding="utf-8")


def test_every_line_of_the_template_of_hypervisors_that_may_be_taken_in_is_right(
    tmp_path: Path,
) -> None:
    text = (STUDIES / "which-hypervisor" / "study.yaml").read_text(encoding="utf-8")
    whole, taken_in = CAPITALS.subn(r"  \1", text)
    assert taken_in >= 6
    (tmp_path / "study.yaml").write_text(whole, encoding="utf-8")
    study = read_study(tmp_path / "study.yaml")
    assert {"libvirt", "virtualbox", "vmware", "xen", "proxmox", "hyperv"} <= set(study.systems)
