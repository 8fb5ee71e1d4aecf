"""Images for real: the same bits each time, nothing left of a build that failed."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.platforms.needs import need

from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.machines import LOCAL, Machines
from steelyard.systems.images.build import build_image
from steelyard.systems.images.mmdebstrap import TOOLS
from steelyard.systems.images.recipe import Kind, NamedRecipe, Recipe
from steelyard.systems.images.store import DISK, INITRD, KERNEL, Image

SMALL = NamedRecipe(name="small", recipe=Recipe(summary="For tests.", modules=("xfs",)))


def built(named: NamedRecipe, kind: Kind, cache: Path) -> Image:
    """Built by an agent that keeps its images elsewhere."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(cache))
        with Machines() as machines:
            return build_image(machines.open(LOCAL), named, kind)


def test_two_builds_of_a_recipe_give_the_same_bits_and_a_third_is_not_made(tmp_path: Path) -> None:
    need(*TOOLS["guest"], root=True)
    one, two = (built(SMALL, "guest", tmp_path / cache) for cache in ("one", "two"))
    for name in (DISK, KERNEL, INITRD):
        assert one.manifest.files[name] == two.manifest.files[name]
    assert one.manifest.packages == two.manifest.packages
    assert "busybox-static" in one.manifest.packages
    assert built(SMALL, "guest", tmp_path / "one").manifest == one.manifest


def test_a_build_that_fails_names_the_package_and_leaves_nothing(tmp_path: Path) -> None:
    need(*TOOLS["container"], root=True)
    unknown = Recipe(summary="For tests.", packages=("no-such-package-anywhere",))
    with pytest.raises(SystemFailure) as refused:
        built(NamedRecipe(name="wrong", recipe=unknown), "container", tmp_path)
    assert "`no-such-package-anywhere`" in refused.value.message
    assert list((tmp_path / "steelyard" / "images").iterdir()) == []
