"""Runs as a chain of releases: which are links, what is named, and what is refused."""

from __future__ import annotations

import math
from itertools import count
from typing import Any

import pytest
from tests.unit.history.test_series import comparison, run

from steelyard.errors import RecordError
from steelyard.history.chain import chain_of
from steelyard.history.point import RunPoint
from steelyard.inference.online_rate import OnlineRate, runs_needed, share
from steelyard.inference.sequential import VerdictWord
from steelyard.records.results.chain import LinkKind, Standing

SLOWER, ALIKE = VerdictWord.SLOWER, VerdictWord.EQUIVALENT
BEGUN = count(1)


def measured(before: int, after: int, word: VerdictWord = ALIKE, **changes: Any) -> RunPoint:
    """A run of two releases, told apart by digests of their numbers."""
    size = -0.1 if word is SLOWER else 0.0
    ends = {"low_log": size - 0.03, "high_log": size + 0.03}
    whole = {f"whole_{name}": end for name, end in ends.items()}
    point = comparison().model_copy(
        update={"word": word, "words": (word,), "estimate_log": size, **ends, **whole}
    )
    tested = {
        system: {"service.sha256": (f"{number:012x}" + "0" * 52,)}
        for system, number in (("old", before), ("new", after))
    }
    facts = {"comparisons": (point,), "tested": tested, "created_unix_ns": next(BEGUN)}
    return run(after, **facts | changes)


def repeated(times: int, before: int, after: int, word: VerdictWord = ALIKE) -> list[RunPoint]:
    """So many runs of the same two releases."""
    return [measured(before, after, word) for _ in range(times)]


def named(baseline: str, other: str, **changes: Any) -> RunPoint:
    """A run of two systems of which nothing but their names is known."""
    names = {"baseline": baseline, "other": other, "key": f"{other}|{baseline}"}
    point = comparison().model_copy(update=names)
    return measured(0, 1, **{"comparisons": (point,), "tested": {}} | changes)


def test_every_share_of_the_rate_together_is_less_than_all() -> None:
    assert 0.9 < sum(map(share, range(1, 20_000))) < 1


def test_levels_fall_without_a_discovery_and_rise_after_the_second() -> None:
    rate = OnlineRate(0.05)
    first = rate.level
    rate.answered(found=True)
    assert rate.level < first
    rate.answered(found=True)
    assert rate.level > first


def test_a_release_is_named_by_as_many_runs_as_the_level_asks_for() -> None:
    assert runs_needed(6e-5, [], 0.025) == 3
    assert runs_needed(6e-5, [0.005, 0.005], 0.025) == 2
    runs = [measured(0, 1), *repeated(2, 1, 2, SLOWER)]
    assert chain_of(runs).links[1].standing is Standing.OPEN
    found = chain_of([*runs, measured(1, 2, SLOWER)])
    assert found.links[1].standing is Standing.NAMED
    assert found.links[1].chance == pytest.approx(0.025**3)
    assert [len(link.runs) for link in found.links] == [1, 3]


def test_a_run_that_does_not_confirm_closes_the_link_and_later_ones_change_nothing() -> None:
    runs = [measured(0, 1, SLOWER), measured(0, 1), *repeated(5, 0, 1, SLOWER)]
    link = chain_of(runs).links[0]
    assert (link.standing, link.chance) == (Standing.NOT_NAMED, 1.0)


def test_a_release_may_be_confirmed_after_the_next_one_was_measured() -> None:
    runs = [measured(0, 1, SLOWER), measured(1, 2), *repeated(2, 0, 1, SLOWER)]
    found = chain_of(runs)
    assert [link.standing for link in found.links] == [Standing.NAMED, Standing.NOT_NAMED]
    assert len(found.named) == 1


def test_an_early_release_that_is_measured_again_is_an_anchor_with_a_test_of_its_own() -> None:
    runs = [measured(n, n + 1) for n in range(10)]
    assert chain_of(runs).anchor_is_due
    found = chain_of([*runs, measured(0, 10, SLOWER)])
    anchor = found.links[-1]
    assert (anchor.kind, anchor.standing) == (LinkKind.ANCHOR, Standing.OPEN)
    assert (found.since_anchor, found.anchor_is_due) == (0, False)


def test_an_anchor_is_not_tested_where_a_release_since_was_named() -> None:
    runs = [*repeated(3, 0, 1, SLOWER), measured(1, 2), measured(0, 2, SLOWER)]
    found = chain_of(runs)
    assert found.links[-1].standing is Standing.KNOWN
    assert found.next_level == pytest.approx(0.05 * share(3))


def test_the_product_goes_over_the_fewest_ratios_and_joins_their_intervals() -> None:
    chain = [measured(0, 1), measured(1, 2, SLOWER), measured(2, 3)]
    total = chain_of(chain).links[-1].total
    assert total is not None
    assert (total.ratios, total.estimate_log) == (3, pytest.approx(-0.1))
    assert total.low_log == pytest.approx(-0.1 - 0.03 * math.sqrt(3))
    shorter = chain_of([*chain, measured(0, 3)]).links[-1].total
    assert shorter is not None
    assert (shorter.ratios, shorter.estimate_log) == (1, 0.0)


def test_releases_without_digests_are_a_chain_by_their_names_and_say_so() -> None:
    found = chain_of([named(f"v{n}", f"v{n + 1}") for n in range(3)])
    assert [link.verified for link in found.links] == [False] * 3
    assert [link.total and link.total.ratios for link in found.links] == [1, 2, 3]


@pytest.mark.parametrize("tested", [{}, {name: {"service.version": ("1",)} for name in "ab"}])
def test_repeats_of_one_comparison_are_not_multiplied(tested: dict[str, Any]) -> None:
    runs = [named("a", "b", tested=tested) for _ in range(4)]
    with pytest.raises(RecordError, match="both compare b with a") as refused:
        chain_of(runs)
    assert "repeats" in (refused.value.hint or "")
    assert "steelyard compare" in (refused.value.hint or "")


def test_a_release_that_is_the_same_build_as_the_one_before_keeps_the_chain() -> None:
    found = chain_of([measured(0, 1), *(measured(1, 1) for _ in range(2)), measured(1, 2)])
    assert [link.verified for link in found.links] == [True, False, False, True]


def test_names_that_do_not_go_on_are_a_gap() -> None:
    with pytest.raises(RecordError, match="has no comparison"):
        chain_of([named("v1", "v2"), named("v3", "v4")])


def test_a_run_that_is_given_twice_is_refused() -> None:
    once = measured(0, 1, SLOWER)
    copied = once.model_copy(update={"run": "s/copy"})
    for twice, said in ((once, "twice$"), (copied, f"twice, once as {once.run}")):
        with pytest.raises(RecordError, match=said):
            chain_of([once, measured(1, 2), twice])


@pytest.mark.parametrize(
    ("second", "said"),
    [
        (measured(1, 2, study="other"), "a run of other"),
        (measured(1, 2, comparisons=(comparison(where="4 users"),)), "no comparison"),
        (measured(1, 2, is_randomised=False), "not randomised"),
        (measured(1, 2, stop="open"), "not finished"),
        (measured(3, 4), "000000000003"),
        (measured(5, 1), "000000000005"),
    ],
)
def test_a_run_that_does_not_fit_is_named(second: RunPoint, said: str) -> None:
    with pytest.raises(RecordError, match=f"s/.*{said}"):
        chain_of([measured(0, 1), second])


def test_no_run_is_no_chain() -> None:
    with pytest.raises(RecordError):
        chain_of([])
