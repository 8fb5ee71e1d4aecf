"""Every platform of the catalogue is driven by whom its file names."""

from __future__ import annotations

import pytest

from steelyard.study import catalogue
from steelyard.systems.command_line.platform import CommandLinePlatform
from steelyard.systems.platforms import OWN, PLATFORMS


@pytest.mark.parametrize("name", catalogue.names("platforms"))
def test_a_platform_is_driven_by_its_class_or_by_the_commands_of_its_file(name: str) -> None:
    driver = catalogue.platform(name).driver
    assert (PLATFORMS[name] is CommandLinePlatform) == (driver == "command_line")
    assert (name in OWN) == (driver == "own")


def test_no_class_drives_a_platform_that_is_not_there() -> None:
    assert OWN.keys() <= PLATFORMS.keys()
