"""Recipes, the words that build them, and what is said when that fails."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import typer
from tests.unit.hosts.stand_in import Machine, said

from steelyard.cli.catalogue.images_of_machines import kind_of
from steelyard.errors import StudyError
from steelyard.hosts.failures import SystemFailure
from steelyard.systems.images import mmdebstrap
from steelyard.systems.images.build import build_image, sweep
from steelyard.systems.images.recipe import (
    FilePart,
    NamedRecipe,
    Recipe,
    find_recipe,
    is_recipe,
    names,
    shipped,
)

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "image-recipe.md"


def small(**more: object) -> NamedRecipe:
    return NamedRecipe(name="small", recipe=Recipe.model_validate({"summary": "x", **more}))


@pytest.mark.parametrize("name", names())
def test_every_shipped_recipe_reads_and_says_what_it_is_for(name: str) -> None:
    assert shipped(name).recipe.summary.endswith(".")


def test_the_digest_follows_from_what_decides_the_bits_and_nothing_else() -> None:
    one = small(packages=["fio"])
    assert one.digest("guest") == small(packages=["fio"]).digest("guest")
    assert one.digest("guest") != one.digest("container")
    assert one.digest("guest") != small(packages=["fio", "curl"]).digest("guest")
    words_only = NamedRecipe(name="other", recipe=one.recipe.model_copy(update={"summary": "y"}))
    assert one.digest("guest") == words_only.digest("guest")


def test_a_guest_gets_what_it_needs_to_start_and_a_container_does_not() -> None:
    recipe = small(packages=["fio"], init="systemd").recipe
    guest = mmdebstrap.mmdebstrap(recipe, "guest", "/w")
    container = mmdebstrap.mmdebstrap(recipe, "container", "/w")
    assert {"--include=fio", "--include=busybox-static", "--include=systemd-sysv"} <= set(guest)
    assert "--include=fio" in container
    assert not [word for word in container if "busybox" in word or "systemd" in word]


def test_a_mirror_of_the_users_is_asked_last() -> None:
    recipe = small(mirror="http://mirror.example/debian").recipe
    argv = mmdebstrap.mmdebstrap(recipe, "guest", "/w")
    assert argv[-3:] == ["bookworm", "/w/root.tar", "http://mirror.example/debian"]


def test_only_a_mirror_that_stands_still_may_have_lists_that_expired() -> None:
    argv = mmdebstrap.mmdebstrap(small(frozen_mirror=True).recipe, "guest", "/w")
    assert [word for word in argv if "Valid-Until" in word]
    argv = mmdebstrap.mmdebstrap(small().recipe, "guest", "/w")
    assert not [word for word in argv if "Valid-Until" in word]
    assert small(frozen_mirror=True).digest("guest") == small().digest("guest")


def test_mistakes_in_a_recipe_are_named_with_their_places(tmp_path: Path) -> None:
    file = tmp_path / "own.yaml"
    file.write_text(
        "summary: mine\npakages: [fio]\ndisk_size: 4\nkind: disk\nfiles: {/a/../b: {content: x}}\n",
        encoding="utf-8",
    )
    with pytest.raises(StudyError) as refused:
        find_recipe(str(file))
    told = "\n".join(str(complaint) for complaint in refused.value.complaints)
    hints = "\n".join(str(complaint.hint) for complaint in refused.value.complaints)
    assert refused.value.slug == "image-recipe-is-wrong"
    assert "own.yaml:2:1: unknown key `pakages`" in told
    assert "did you mean `packages`" in hints
    assert "own.yaml:3:" in told
    assert "`kind` cannot be `disk`" in told
    assert "own.yaml:5:" in told


@pytest.mark.parametrize("text", [None, "", "kind: [", "- a"])
def test_a_file_that_is_no_recipe_is_not_called_a_study(tmp_path: Path, text: str | None) -> None:
    path = tmp_path / "mine.yaml"
    if text is not None:
        path.write_text(text)
    with pytest.raises(StudyError) as refused:
        find_recipe(str(path))
    assert refused.value.slug == "image-recipe-is-wrong"
    assert "study" not in str(refused.value.complaints)


def test_a_recipe_that_is_not_there_is_named_with_those_that_are() -> None:
    with pytest.raises(SystemFailure) as refused:
        find_recipe("debian-minmal")
    assert refused.value.kind == "image_missing"
    assert "debian-minimal" in str(refused.value.hint)


@pytest.mark.parametrize("name", names())
def test_an_image_of_another_release_is_the_same_recipe_with_that_suite(name: str) -> None:
    recipe = shipped(name).recipe
    for suite, kind in recipe.suites.items():
        found = find_recipe(f"{name}@{suite}")
        assert found.recipe == recipe.model_copy(update={"suite": suite, "kind": kind})
        assert mmdebstrap.mmdebstrap(found.recipe, "guest", "/w")[-2] == suite
        assert found.folder_name("guest") != shipped(name).folder_name("guest")
    assert find_recipe(f"{name}@{recipe.suite}") == shipped(name)


def test_the_releases_that_a_recipe_is_for_do_not_change_its_image() -> None:
    assert small().digest("guest") == small(suites={"trixie": "both"}).digest("guest")
    one, two = find_recipe("debian-web@trixie"), find_recipe("debian-web-trixie")
    assert one.folder_name("container") == two.folder_name("container")


def test_a_release_that_a_recipe_is_not_for_is_named_with_those_that_it_is_for() -> None:
    with pytest.raises(SystemFailure, match="not for the release `trixi`") as refused:
        find_recipe("debian-web@trixi")
    assert refused.value.kind == "image_missing"
    assert "trixie" in str(refused.value.hint)


def test_a_recipe_of_a_file_has_its_releases_too(tmp_path: Path) -> None:
    file = tmp_path / "mine@home.yaml"
    file.write_text("summary: mine\nsuites: {trixie: both}\n", encoding="utf-8")
    assert find_recipe(f"{file}@trixie").recipe.suite == "trixie"
    assert find_recipe(str(file)).recipe.suite == "bookworm"


@pytest.mark.parametrize(
    ("image", "expected"),
    [
        ("debian-web", True), ("debian-web@trixie", True), ("./mine.yaml@sid", True),
        ("registry.example/debian-web@sha256:12", False), ("debian@trixie", False),
        ("a.tar", False),
    ],
)  # fmt: skip
def test_a_reference_to_a_registry_is_no_recipe(image: str, expected: bool) -> None:
    assert is_recipe(image) is expected


def test_modes_are_written_in_octal() -> None:
    assert FilePart(content="", mode="0755").mode == 0o755  # type: ignore[arg-type]


def test_a_package_that_apt_does_not_know_is_named() -> None:
    kind, told = mmdebstrap.complaint("I: running apt\nE: Unable to locate package foio\n")
    assert kind == "image_unusable"
    assert "`foio`" in told["message"]


def test_a_full_disk_is_reported_as_such() -> None:
    assert mmdebstrap.complaint("tar: x: Cannot write: No space left on device")[0] == "no_space"


def test_another_failure_is_reported_with_the_first_error_of_the_tool() -> None:
    kind, told = mmdebstrap.complaint("I: x\nE: cannot reach deb.debian.org\nE: run failed\n")
    assert (kind, "cannot reach" in told["message"]) == ("tool_failed", True)


def test_a_mirror_that_is_not_reached_is_named_with_what_to_do() -> None:
    said = "Failed to fetch http://deb.debian.org/x/InRelease  Temporary failure resolving 'deb'"
    kind, told = mmdebstrap.complaint(f"I: x\nE: {said}\nE: Some index files failed\n")
    assert (kind, told["message"].endswith(said)) == ("tool_failed", True)
    assert "`mirror`" in told["hint"]


def builder(*, user: str = "0", lacks: str = "-") -> Machine:
    return Machine(
        tools={
            "sh -c printf": lambda _: said(stdout="/cache"),
            "id -u": lambda _: said(stdout=user + "\n"),
            f"sh -c command -v {lacks}": lambda _: said(1),
        }
    )


def test_images_are_built_by_root_and_that_is_said() -> None:
    with pytest.raises(SystemFailure) as refused:
        build_image(builder(user="1000").host(), small(), "guest")
    assert refused.value.kind == "no_rights"


def test_a_missing_tool_is_named_with_the_package_that_has_it() -> None:
    with pytest.raises(SystemFailure) as refused:
        build_image(builder(lacks="mmdebstrap").host(), small(), "guest")
    assert refused.value.kind == "tool_missing"
    assert "apt install mmdebstrap" in str(refused.value.hint)


def test_too_little_room_is_said_before_anything_is_fetched() -> None:
    machine = builder()
    with pytest.raises(SystemFailure) as refused:
        build_image(machine.host(), small(), "guest")  # the stand-in has 1 GiB
    assert refused.value.kind == "no_space"
    assert [change for change in machine.changes if change[0] != "run"] == []


def test_what_a_killed_build_left_is_removed_and_a_running_one_is_not() -> None:
    machine = builder()
    folder = "/cache/steelyard/images"
    listed = ".building-a-41\n.building-b-42\ndebian-minimal-1\n"
    machine.tools[f"ls -A {folder}"] = lambda _: said(stdout=listed)
    trees = "/tmp/steelyard-building-41.aaaaaa\n/tmp/steelyard-building-42.bbbbbb\n"
    machine.tools["sh -c ls -d"] = lambda _: said(stdout=trees)
    machine.files["/proc/42/stat"] = ""
    sweep(machine.host(), folder)
    removed = [change[1] for change in machine.changes if change[0] == "remove"]
    assert removed == [f"{folder}/.building-a-41", "/tmp/steelyard-building-41.aaaaaa"]


def test_what_a_build_mounts_is_seen_by_nothing_else() -> None:
    argv = mmdebstrap.mmdebstrap(small().recipe, "guest", "/w")
    assert argv[argv.index("mmdebstrap") - 4 :][:2] == ["sh", "-c"]
    assert "unshare --mount --propagation private" in argv[argv.index("mmdebstrap") - 2]


def test_a_recipe_for_both_makes_a_guest_unless_a_container_is_asked_for() -> None:
    both = shipped("debian-home")
    assert (kind_of(both, None), kind_of(both, "container")) == ("guest", "container")
    with pytest.raises(typer.BadParameter):
        kind_of(shipped("debian-minimal"), "container")


def test_a_recipe_for_a_guest_makes_no_container() -> None:
    with pytest.raises(SystemFailure, match="recipe for a guest"):
        build_image(builder().host(), small(kind="guest"), "container")


def test_every_key_of_a_recipe_is_on_its_page() -> None:
    quoted = set(re.findall(r"`([a-z_]+)`", PAGE.read_text(encoding="utf-8")))
    assert set(Recipe.model_fields) | set(FilePart.model_fields) <= quoted
