"""Steps that a fault can strike: those of the study file are those of the engine."""

from __future__ import annotations

import re
import subprocess

import pytest

from steelyard.engine.locate import find_engine
from steelyard.study import catalogue
from steelyard.study.resolve.systems.faults import STEPS

WITH_FAULTS = [
    name
    for name in catalogue.names("services")
    if name.startswith("sink-") and "fault" in catalogue.service(name).settings
]


@pytest.mark.parametrize("name", WITH_FAULTS)
def test_the_steps_of_a_server_are_those_that_the_engine_names(name: str) -> None:
    service = catalogue.service(name)
    words = [str(find_engine()), *service.command[1:3], "--fault", "NONE:drop"]
    ran = subprocess.run(words, capture_output=True, text=True, check=False, timeout=30)
    listed = re.search(r"it has ([A-Z, ]+), and \* for all", ran.stderr)
    assert listed is not None
    assert set(listed[1].split(", ")) == set(STEPS[service.speaks[0]])
