"""Every platform keeps every promise, on the real thing; see steelyard/systems/contract."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.platforms.places import PLACES
from tests.platforms.promises import keeps_its_promise, leaving_nothing, local

from steelyard.study import catalogue
from steelyard.systems.conformance.bench import Bench
from steelyard.systems.conformance.checks import CHECKS
from steelyard.systems.platforms import PLATFORMS

IN_EVERY_RUN = [place for place in PLACES if place != "qemu"]
EXTENDED = [pytest.param("qemu", marks=pytest.mark.extended)]  # its image takes a minute to build


@pytest.fixture(scope="module", params=[*IN_EVERY_RUN, *EXTENDED])
def bench(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Bench]:
    folder = tmp_path_factory.mktemp(request.param)
    platform, prepared = PLACES[request.param]
    declared = catalogue.platform(platform)
    with prepared(folder) as settings:
        parts = (PLATFORMS[platform], declared, settings, local, folder)
        with leaving_nothing(*parts) as made:
            yield made


@pytest.mark.parametrize("check", CHECKS)
def test_a_platform_keeps_its_promise(bench: Bench, check: str) -> None:
    keeps_its_promise(bench, check)
