"""The recipes of templates/mkosi: one for each distribution, with what a guest needs."""

from __future__ import annotations

from configparser import ConfigParser
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "templates" / "mkosi"
KERNELS = {"ubuntu": "linux-image-virtual", "fedora": "kernel-core", "opensuse": "kernel-default"}


def read(path: Path) -> ConfigParser:
    parser = ConfigParser(delimiters=("=",), strict=True)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_string(path.read_text(encoding="utf-8"))
    return parser


def packages(path: Path) -> list[str]:
    return read(path)["Content"]["Packages"].split()


def test_every_recipe_has_a_way_in_and_starts_under_uefi() -> None:
    assert {"cloud-init", "openssh-server"} <= set(packages(FOLDER / "mkosi.conf"))
    assert read(FOLDER / "mkosi.conf")["Content"]["Bootloader"] == "systemd-boot"


def test_each_distribution_of_the_guide_has_a_recipe() -> None:
    assert {path.stem for path in (FOLDER / "mkosi.conf.d").iterdir()} == set(KERNELS)


@pytest.mark.parametrize("distribution", KERNELS)
def test_a_recipe_is_for_its_distribution_and_has_its_kernel(distribution: str) -> None:
    path = FOLDER / "mkosi.conf.d" / f"{distribution}.conf"
    assert read(path)["Match"]["Distribution"] == distribution
    assert KERNELS[distribution] in packages(path)
