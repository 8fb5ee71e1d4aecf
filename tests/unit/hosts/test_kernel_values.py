"""The kernel shows values otherwise than it takes them."""

from __future__ import annotations

import pytest

from steelyard.hosts.kernel_values import changed_values, parse_values, same, shown


@pytest.mark.parametrize(
    ("content", "value"),
    [
        ("60\n", "60"),
        ("[none] mq-deadline kyber\n", "none"),
        ("always [madvise] never\n", "madvise"),
        ("4096\t131072\t6291456\n", "4096 131072 6291456"),
        ("\n", ""),
        ("Linux version 6 (a b)\n", "Linux version 6 (a b)"),
    ],
)
def test_a_value_is_read_without_its_spacing_and_its_rivals(content: str, value: str) -> None:
    assert shown(content) == value


def test_what_is_written_and_what_is_shown_are_the_same_value() -> None:
    assert same("none", "[none] mq-deadline\n")
    assert not same("kyber", "[none] kyber\n")


def test_a_listing_is_read_by_path_whatever_a_value_holds() -> None:
    scheduler = "/sys/block/vda/queue/scheduler:[none] kyber\n"
    listed = f"/proc/sys/kernel/a:x:y\n{scheduler}/proc/sys/b:1\n/proc/sys/b:2\n"
    assert parse_values(listed) == {
        "/proc/sys/kernel/a": "x:y",
        "/sys/block/vda/queue/scheduler": "none",
        "/proc/sys/b": "1 2",
    }


def test_what_came_went_or_changed_is_reported_and_what_moves_by_itself_is_not() -> None:
    before = {"/a": "1", "/b": "1", "/proc/sys/kernel/ns_last_pid": "7"}
    after = {"/a": "2", "/c": "1", "/proc/sys/kernel/ns_last_pid": "8"}
    assert changed_values(before, after) == {"/a": ("1", "2"), "/b": ("1", None), "/c": (None, "1")}
