"""Every study that is shipped can be planned, in every variant, and is in the list."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from steelyard.plan.make import make_plan
from steelyard.study.lookup import service_of, workload_of
from steelyard.study.model import Study
from steelyard.study.read import read_study
from steelyard.systems.images import recipe

STUDIES = Path(__file__).parents[3] / "studies"
NAMES = sorted(path.parent.name for path in STUDIES.glob("*/study.yaml"))
CAPITALS = re.compile(r"^  # (\w+: +\{platform: )", re.MULTILINE)


@pytest.mark.parametrize("name", NAMES)
def test_a_study_and_all_its_variants_can_be_planned(name: str) -> None:
    whole = read_study(STUDIES / name / "study.yaml")
    for variant in (None, *whole.variants):
        study = read_study(STUDIES / name / "study.yaml", variant=variant)
        assert make_plan(study, seed=1).every_visit


KIND_OF = {"podman": "container", "qemu": "guest"}
ALWAYS_THERE = {"coreutils", "gzip", "perl-base", "tar"}
"""Packages that Debian calls essential: no tree is without them."""


def needed(study: Study, system: str) -> set[str]:
    """Packages that must be on a system for what runs there: tools, and servers."""
    found = set()
    for workload in study.workloads.values():
        entry, server = workload_of(workload), workload.service or study.systems[system].service
        if entry.on == "system":
            found |= set(entry.packages.get("debian", ()))
        if entry.speaks and server is not None:
            found |= set(service_of(server).packages.get("debian", ()))
    return found - ALWAYS_THERE


@pytest.mark.parametrize("name", NAMES)
def test_every_image_of_a_study_has_the_packages_of_what_runs_in_it(name: str) -> None:
    path = STUDIES / name / "study.yaml"
    for variant in (None, *read_study(path).variants):
        study = read_study(path, variant=variant)
        for system, spec in study.systems.items():
            image = str(spec.settings.get("image"))
            if spec.platform not in KIND_OF or image not in recipe.names():
                continue
            built = recipe.shipped(image).recipe
            assert KIND_OF[spec.platform] in built.kinds(), f"{variant}: {system}"
            lacking = needed(study, system) - {p.partition("=")[0] for p in built.packages}
            assert not lacking, f"{variant}: {image} of {system}"


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
    assert {"libvirt", "virtualbox", "vmware", "esx", "xen", "proxmox", "hyperv"} <= set(
        study.systems
    )


@pytest.mark.parametrize("name", ["study", "pop3", "reading", "exim"])
def test_the_mail_servers_of_the_small_variant_have_the_same_memory(name: str) -> None:
    path = Path(__file__).parents[3] / "studies" / "mail-scalability" / f"{name}.yaml"
    systems = read_study(path, variant="small").systems.values()
    limits = {(each.settings.get("confine") or each.settings)["memory"] for each in systems}
    assert len(limits) == 1
