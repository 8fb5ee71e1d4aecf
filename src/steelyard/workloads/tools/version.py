"""Which version of a program runs: as it says itself, and never guessed."""

from __future__ import annotations

import re

from steelyard.hosts.failures import SystemFailure
from steelyard.study.workload.entry import ToolVersion, is_version, within


def supported_version(version: ToolVersion, said: str, use: str) -> str:
    """The version that the tool says, when this file understands it.

    Raises:
        SystemFailure: ``not_supported``: it is another, or cannot be made out.
    """
    match = re.search(version.pattern, said, re.MULTILINE)
    found = match[1] if match is not None and match[1] else None
    if found is None or not is_version(found):
        first = next((line.strip() for line in said.splitlines() if line.strip()), "nothing")
        raise SystemFailure(
            "not_supported",
            f"what {use} says of its version cannot be parsed: `{found or first}`",
            "give the study a workload file that fits it: docs/guide/add-a-workload.md",
        )
    if not within(found, version.least, version.before):
        until = "" if version.before is None else f" and before {version.before}"
        raise SystemFailure(
            "not_supported",
            f"{use} is of version {found}, and its output is parsed from "
            f"{version.least}{until} only",
            "install such a version, or copy the workload file beside the study and widen "
            "`version` after `steelyard workload check FILE --output OUTPUT`",
        )
    return found
