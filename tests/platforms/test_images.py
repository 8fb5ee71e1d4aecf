"""Images for real: the same bits each time, nothing left of a build that failed."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.platforms.needs import need

from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host
from steelyard.hosts.machines import LOCAL, Machines
from steelyard.systems.images.build import build_image
from steelyard.systems.images.mmdebstrap import TOOLS
from steelyard.systems.images.recipe import NamedRecipe, Recipe
from steelyard.systems.images.store import DISK, INITRD, KERNEL

SMALL = NamedRecipe(name="small", recipe=Recipe(summary="For tests.", modules=("xfs",)))


@contextmanager
def keeping_in(cache: Path) -> Iterator[Host]:
    """This machine, through an agent that keeps its images elsewhere."""
    with pytest.MonkeyPatch.context() as patch, Machines() as machines:
        patch.setenv("XDG_CACHE_HOME", str(cache))
        yield machines.open(LOCAL)


def test_two_builds_at_once_give_the_same_bits_and_a_third_is_not_made(tmp_path: Path) -> None:
    need(*TOOLS["guest"], root=True)
    with keeping_in(tmp_path / "one") as here, keeping_in(tmp_path / "two") as there:
        with ThreadPoolExecutor() as pool:
            one, two = pool.map(lambda host: build_image(host, SMALL, "guest"), (here, there))
        for name in (DISK, KERNEL, INITRD):
            assert one.manifest.files[name] == two.manifest.files[name]
        assert one.manifest.packages == two.manifest.packages
        assert "busybox-static" in one.manifest.packages
        assert build_image(here, SMALL, "guest").manifest == one.manifest


def test_a_build_that_fails_names_the_package_and_leaves_nothing(tmp_path: Path) -> None:
    need(*TOOLS["container"], root=True)
    unknown = Recipe(summary="For tests.", packages=("no-such-package-anywhere",))
    with keeping_in(tmp_path) as host, pytest.raises(SystemFailure) as refused:
        build_image(host, NamedRecipe(name="wrong", recipe=unknown), "container")
    assert "`no-such-package-anywhere`" in refused.value.message
    assert list((tmp_path / "steelyard" / "images").iterdir()) == []
