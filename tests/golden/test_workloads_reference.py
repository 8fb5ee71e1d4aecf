"""docs/reference/workloads.md is what the workload files say."""

from __future__ import annotations

import os
from pathlib import Path

from steelyard.study import catalogue
from steelyard.study.reference import workload_lines

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "workloads.md"
INTRODUCTION = """\
# Workloads

What a study can drive, with every setting: `workload: {use: NAME, SETTING: ...}`. `steelyard
workload list` and `steelyard workload show NAME` print the same; this page is made from the
workload files themselves (`make golden-accept`). What the load engine drives is said in
[load.md](load.md) in detail. [A tool of your own](../guide/add-a-workload.md) is used like those
here, and [workload-file.md](workload-file.md) says the keys of its file.

A tool runs once in every trial, with `LC_ALL=C`, in a folder of its own that is removed
afterwards. It must be installed where it runs: a session that does not find it ends before its
first window and names the packages, which belong into `packages` of [an
image](../guide/images.md). So does one whose version is not supported. `run_time` is there for
every tool. What it printed is kept beside the record of each trial.
"""


def page() -> str:
    entries = {name: catalogue.workload(name) for name in catalogue.names("workloads")}
    workloads = (workload_lines(name, entry) for name, entry in entries.items())
    return INTRODUCTION + "".join("\n" + "\n".join(lines).rstrip() + "\n" for lines in workloads)


def test_the_page_is_what_the_workload_files_say() -> None:
    seen = page()
    if os.environ.get("STEELYARD_ACCEPT"):
        PAGE.write_text(seen, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == seen
