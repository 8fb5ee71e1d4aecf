"""Whole studies on a machine add up over runs, kind by kind; what is done twice is compared."""

from __future__ import annotations

from collections import Counter

import pytest
from tests.calibration import live, sections_live
from tests.calibration.goals import Standing
from tests.calibration.live import Live, next_kind, pairs_of
from tests.calibration.store import Store
from tests.calibration.tasks import twice

from steelyard.inference.sequential import VerdictWord


def a_study(kind: str, machine: str = "here", word: str = "equivalent") -> Live:
    return Live(kind, "2026-01-01 00:00", "judge", machine, 0.1, 1, word, 16, 0.0, 20.0)


def test_the_kind_with_the_fewest_studies_on_this_machine_is_next() -> None:
    studies = [a_study("http"), a_study("mail", "elsewhere")]
    assert next_kind(studies, "here") == "mail"
    assert next_kind([*studies, a_study("mail")], "here") == "http"


def test_a_run_goes_on_to_as_many_as_are_wanted_and_keeps_each(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    studies = [a_study("http", live.machine())]
    monkeypatch.setattr(live, "kept", lambda: list(studies))
    monkeypatch.setattr(live, "keep", lambda every: studies.append(every[-1]))
    monkeypatch.setattr(live, "run", lambda kind, _folder: a_study(kind, live.machine()))
    monkeypatch.setattr("sys.argv", ["live", "--studies", "4"])
    live.main()
    assert Counter(each.kind for each in studies) == {"http": 2, "mail": 2}


def test_pairs_are_of_one_kind_on_one_machine() -> None:
    studies = [a_study("http"), a_study("mail"), a_study("http"), a_study("http", "elsewhere")]
    assert list(pairs_of(studies)) == [(studies[0], studies[2])]


def test_two_studies_are_the_same_or_against_each_other_or_neither() -> None:
    faster, slower = VerdictWord.FASTER, VerdictWord.SLOWER
    assert twice([faster, slower, None, None, faster, None]) == {
        "twice": 3,
        "twice the same": 1,
        "twice against": 1,
    }


def test_contradictions_are_not_hidden_by_many_that_agree(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    monkeypatch.setattr(sections_live, "kept", list)
    store = Store("G6", tmp_path_factory.mktemp("results"))
    result = store.begin("stops: bank", {"noise": "bank", "effect": 0.0}, "judge")
    result.studies = 2_000
    wanted = {0: Standing.REACHED, 1: Standing.OPEN, 20: Standing.NOT_REACHED}
    for against, standing in wanted.items():
        result.counts.clear()
        result.counts.update({"twice": 1_000, "twice the same": 980, "twice against": against})
        assert sections_live.repeated(store).standing is standing


@pytest.mark.parametrize(("different", "standing"), [(40, "reached"), (300, "**not reached**")])
def test_studies_that_are_different_and_equivalent_by_turns_are_held_against_the_error_rates(
    different: int,
    standing: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    monkeypatch.setattr(sections_live, "kept", list)
    store = Store("G6", tmp_path_factory.mktemp("results"))
    result = store.begin("stops: bank", {"noise": "bank", "effect": 0.0}, "judge")
    result.studies = 2_000
    result.counts.update({"twice": 1_000, "slower": different, "equivalent": 2_000 - different})
    assert sections_live.repeated(store).standing == standing
