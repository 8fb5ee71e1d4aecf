"""Every system that is limited by one resource has a study, and a name that a trial can have."""

from __future__ import annotations

from pathlib import Path

import pytest
from bench.injected.causes import LIMITED, Limited, write_study

from steelyard.records.warnings import Resource
from steelyard.study.read import read_study


@pytest.mark.parametrize("limited", LIMITED, ids=lambda limited: limited.words)
def test_its_study_is_read_and_what_must_be_named_is_a_resource(
    limited: Limited, tmp_path: Path
) -> None:
    study = read_study(write_study(limited, tmp_path))
    assert set(study.systems) == {"one", "two"}
    assert limited.right <= set(Resource)


def test_the_generator_that_is_to_be_saturated_has_one_thread(tmp_path: Path) -> None:
    (limited,) = [each for each in LIMITED if each.words == "generator"]
    assert read_study(write_study(limited, tmp_path)).generator.threads == 1
