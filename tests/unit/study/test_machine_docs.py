"""The pages on settings and disks say what the catalogue declares, and their examples read."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from steelyard.hosts.undo.actions.storage import remount_words
from steelyard.study import catalogue
from steelyard.study.declared.machine import declared_settings, filesystems
from steelyard.systems.settings.remount import ATIMES, BACK

DOCS = Path(__file__).parents[3] / "docs" / "reference"
SETTINGS = (DOCS / "settings.md").read_text(encoding="utf-8")
DISKS = (DOCS / "disks.md").read_text(encoding="utf-8")


def row(page: str, name: str) -> list[str]:
    """The cells of the table's row that begins with this name."""
    [found] = re.findall(rf"^\| `{re.escape(name)}` \|(.*)\|$", page, re.MULTILINE)
    return [cell.strip() for cell in found.split("|")]


@pytest.mark.parametrize("name", declared_settings())
def test_every_setting_has_its_row_with_levels_off_and_where(name: str) -> None:
    setting = declared_settings()[name]
    levels, off, where, needs = row(SETTINGS, f"{name}.KEY" if setting.family else name)
    assert all(f"`{choice}`" in levels for choice in setting.choices)
    assert off == setting.off
    assert where == ", ".join(setting.where)
    assert all(program in needs for program in setting.needs)


def test_settings_are_in_the_order_in_which_they_are_applied() -> None:
    names = re.findall(r"^\| `([a-z_.]+?)(?:\.KEY)?` \|", SETTINGS, re.MULTILINE)
    assert names == list(declared_settings())


@pytest.mark.parametrize("option", [*ATIMES, *BACK])
def test_every_mount_option_that_can_be_undone_is_named(option: str) -> None:
    assert f"`{option}`" in SETTINGS or f"`{option}=N`" in SETTINGS
    assert option in remount_words("/srv", option)[-2]


@pytest.mark.parametrize("key", catalogue.disk_settings())
def test_every_key_of_a_disk_has_its_row(key: str) -> None:
    setting = catalogue.disk_settings()[key]
    meaning = row(DISKS, key)[0]
    if key != "filesystem":
        assert all(f"`{choice}`" in meaning for choice in setting.choices)


@pytest.mark.parametrize("name", filesystems())
def test_every_filesystem_has_its_row_with_how_it_is_made_and_checked(name: str) -> None:
    made, checked, keeps = row(DISKS, name)
    assert made == f"`{' '.join(filesystems()[name].make)}`"
    assert checked == f"`{' '.join(filesystems()[name].check)}`"
    assert keeps == filesystems()[name].keeps
