"""Every inverse survives the ledger, and does nothing where there is nothing of ours."""

from __future__ import annotations

import json
from dataclasses import asdict

import pytest

from steelyard.hosts.inverses.files import RemoveTree
from steelyard.hosts.inverses.inverse import Inverse
from steelyard.hosts.inverses.processes import EndProcess
from steelyard.hosts.inverses.table import INVERSES, read_inverse

EXAMPLES: list[Inverse] = [
    EndProcess(7, 99),
    RemoveTree("/srv/scratch"),
]


@pytest.mark.parametrize("inverse", EXAMPLES, ids=lambda inverse: inverse.kind)
def test_an_inverse_comes_back_from_the_ledger_as_it_was(inverse: Inverse) -> None:
    assert read_inverse(json.loads(json.dumps(asdict(inverse)))) == inverse


@pytest.mark.parametrize("inverse", EXAMPLES, ids=lambda inverse: inverse.kind)
def test_an_inverse_says_in_words_what_it_does(inverse: Inverse) -> None:
    assert str(inverse)[0].islower()
    assert not str(inverse).startswith(type(inverse).__name__)


def test_every_inverse_of_the_table_is_tried_here_under_its_name() -> None:
    assert {inverse.kind for inverse in EXAMPLES} == set(INVERSES)
    assert {inverse.kind: type(inverse) for inverse in EXAMPLES} == INVERSES
