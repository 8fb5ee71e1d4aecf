"""The kernel shows values otherwise than it takes them."""

from __future__ import annotations

import pytest

from steelyard.hosts.kernel_values import same, shown


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
