"""docs/reference/meters.md is what the meter files say."""

from __future__ import annotations

import os
from pathlib import Path

from steelyard.study import catalogue
from steelyard.study.reference import meter_lines

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "meters.md"
NAMES = catalogue.names("meters")
INTRODUCTION = """\
# Meters

What can measure the power of a machine from outside, with every setting:
`meter: {use: NAME, SETTING: ...}` of a system, or of `defaults`. This page is made from the meter
files themselves (`make golden-accept`). [The guide](../guide/measure-power.md) says what comes of
it; [a file of your own](meter-file.md) is used like them.

The controller asks the meter, before the load and until after it, as often as `sample: {every}`
says but never more often than the meter has a new reading. A meter is asked once before anything is
started: one that cannot be read ends the session there.
"""


def page() -> str:
    meters = (meter_lines(name, catalogue.meter(name)) for name in NAMES)
    return INTRODUCTION + "".join("\n" + "\n".join(lines).rstrip() + "\n" for lines in meters)


def test_the_page_is_what_the_meter_files_say() -> None:
    seen = page()
    if os.environ.get("STEELYARD_ACCEPT"):
        PAGE.write_text(seen, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == seen
