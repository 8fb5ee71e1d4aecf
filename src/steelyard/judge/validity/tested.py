"""What was tested: versions and digests of the programs and images of each system."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

from steelyard.records.schema import TrialRecord

_TESTED = re.compile(r"(service|tool)\.(.+\.)?(version|sha256)|platform\.image\.(digest|id|sha256)")


def tested_programs(records: Sequence[TrialRecord]) -> dict[str, dict[str, tuple[str, ...]]]:
    """By system and fact every value that was seen; of several workloads, one fact has several."""
    seen: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for record in records:
        for name, value in record.facts.get("system", {}).items():
            if value is not None and _TESTED.fullmatch(name):
                seen[record.cell.system][name].add(value)
    return {
        system: {fact: tuple(sorted(values)) for fact, values in sorted(facts.items())}
        for system, facts in sorted(seen.items())
    }
