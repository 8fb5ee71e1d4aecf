"""The platform of docs/guide/add-a-platform.md is right, and keeps the promises of a platform."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from tests.platforms.places import need
from tests.platforms.promises import keeps_its_promise, leaving_nothing, local

from steelyard.study.lookup import PLATFORM_FILES, platform_of
from steelyard.study.read import read_with_lacking
from steelyard.systems.command_line.platform import CommandLinePlatform
from steelyard.systems.conformance.bench import Bench
from steelyard.systems.conformance.checks import CHECKS

GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "add-a-platform.md"
PLATFORM, STUDY = re.findall(r"```yaml\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("guide")
    (made / "nested.yaml").write_text(PLATFORM, encoding="utf-8")
    (made / "study.yaml").write_text(STUDY, encoding="utf-8")
    return made


def test_the_study_of_the_guide_can_be_run(folder: Path) -> None:
    study, lacking = read_with_lacking(folder / "study.yaml")
    assert lacking == []
    assert platform_of(study.systems["nested"]) == PLATFORM_FILES.read(folder / "nested.yaml")


@pytest.fixture(scope="module")
def bench(folder: Path) -> Iterator[Bench]:
    need("unshare")
    words = ["unshare", "--user", "--map-root-user", "--uts", "hostname", "box"]
    if subprocess.run(words, check=False, capture_output=True).returncode != 0:
        pytest.skip("needs user namespaces")
    declared = PLATFORM_FILES.read(folder / "nested.yaml")
    make = partial(CommandLinePlatform, platform=declared)
    with leaving_nothing(make, declared, {"hostname": "box"}, local, folder) as made:
        yield made


@pytest.mark.parametrize("check", CHECKS)
def test_the_platform_of_the_guide_keeps_its_promise(bench: Bench, check: str) -> None:
    keeps_its_promise(bench, check)
