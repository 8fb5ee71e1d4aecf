"""Known statistical mistakes, each planted into the judge of this process, and who must see it.

Each patches what the judge really calls, so a mistake that nothing sees is a hole in validation.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from unittest.mock import patch

from tests.calibration import cells, contracts, mistakes
from tests.calibration.checks import Check, at_the_margin, consistent, covered, equal, found, said

from steelyard.inference import exact, randomisation, sequential
from steelyard.inference.assumptions import carry_over, diagnostics
from steelyard.inference.ratio_tests import Inference
from steelyard.inference.sequential import VerdictWord
from steelyard.judge.comparisons import comparison, notes, withholding
from steelyard.judge.own_trials import arguments, rows, verdicts
from steelyard.judge.own_trials.visits import MeasuredVisits

Planting = Callable[[], AbstractContextManager[object]]
_DIFFERENCES = {VerdictWord.FASTER, VerdictWord.SLOWER}


@dataclass(frozen=True)
class Mutation:
    """A mistake in words, how it is planted, and the check that must fail while it is."""

    words: str
    plant: Planting
    check: Check


def is_seen(mutation: Mutation) -> bool:
    """Whether its check fails while the mistake is planted."""
    with mutation.plant():
        return mutation.check() is not None


def _replaced(target: object, name: str, value: object) -> Planting:
    return lambda: patch.object(target, name, value)


INDEPENDENT = "independent 2 %"
SAID_OF_EQUALS = said(INDEPENDENT, 0.0, _DIFFERENCES, allowed=0.05, studies=60)
EQUAL = equal(INDEPENDENT, 100)
AT_THE_MARGIN = at_the_margin(INDEPENDENT, 50)

MUTATIONS: tuple[Mutation, ...] = (
    Mutation(
        "strict alternation, judged as if by the coin",
        _replaced(cells, "big_stick", mistakes.alternation),
        equal("sine 3 %, period 2", 50),
    ),
    Mutation(
        "five visits of one system, then five of the other, judged as if by the coin",
        _replaced(cells, "big_stick", mistakes.five_at_a_time),
        equal("drift 2 % a visit", 50),
    ),
    Mutation(
        "a free coin, judged by the orders of the balanced one",
        _replaced(cells, "big_stick", mistakes.free_coin),
        equal("drift 2 % a visit", 150),
    ),
    Mutation(
        "a coin that turns in one visit of five, to save set-up time",
        _replaced(cells, "big_stick", mistakes.sticky_coin),
        equal("sine 3 %, period 2 to 20", 250),
    ),
    Mutation(
        "orders drawn as pairs, for a study that tossed the big-stick coin",
        _replaced(randomisation, "big_stick", randomisation.random_pairs),
        equal("drift 2 % a visit", 150),
    ),
    Mutation(
        "iterations inside a visit counted as visits",
        lambda: patch("tests.calibration.checks.drawn", mistakes.iterations_counted),
        EQUAL,
    ),
    Mutation("peeking: the whole error rate anew at every look", mistakes.peeking, EQUAL),
    Mutation(
        "looks without memory: simulated orders never leave",
        _replaced(exact._Test, "_above_boundary", mistakes.nobody_leaves),
        equal(INDEPENDENT, 150),
    ),
    Mutation(
        "ties count for the observed order",
        _replaced(exact._Test, "_above_boundary", mistakes.ties(observed=True, simulated=False)),
        equal("quantised to 4 %", 100),
    ),
    Mutation(
        "ties count for the simulated orders alone, so that large effects stall",
        _replaced(exact._Test, "_above_boundary", mistakes.ties(observed=False, simulated=True)),
        found("quantised to 4 %", math.log(1.2), VerdictWord.FASTER, 12),
    ),
    Mutation(
        "the error rate of both sides spent on each",
        _replaced(exact, "spent", mistakes.twice),
        equal(INDEPENDENT, 1_200),
    ),
    Mutation(
        "the observed order compared with a boundary it is no part of",
        _replaced(exact._Test, "_above_boundary", mistakes.outside_the_pool),
        equal(INDEPENDENT, 800, horizon=16, paths=44),
    ),
    Mutation(
        "a budget extended with a fresh error rate",
        _replaced(exact, "spent", mistakes.again_after_the_budget),
        equal(INDEPENDENT, 800, budget=24),
    ),
    Mutation(
        "several systems without sharing the error rate",
        _replaced(verdicts, "shared", mistakes.nothing_shared),
        equal(INDEPENDENT, 250, design="four"),
    ),
    Mutation(
        "no evidence of a difference taken for equality",
        _replaced(sequential, "_at_the_bounds", mistakes.no_evidence_is_equality),
        at_the_margin("bimodal 6 %", 100),
    ),
    Mutation(
        "equivalent by one of the two one-sided tests",
        _replaced(sequential, "_at_the_bounds", mistakes.one_side_is_enough),
        AT_THE_MARGIN,
    ),
    Mutation(
        "faster and slower swapped",
        _replaced(sequential, "_at_the_bounds", mistakes.sides_swapped),
        AT_THE_MARGIN,
    ),
    Mutation(
        "a margin chosen after the figures were seen",
        _replaced(Inference, "decide", mistakes.margin_afterwards),
        said(INDEPENDENT, math.log1p(0.02), {VerdictWord.EQUIVALENT}, allowed=0.05),
    ),
    Mutation(
        "the direction taken from the medians of the arms, and never held against the estimate",
        mistakes.direction_of_the_medians,
        said("drift 2 % a visit", 0.05, {VerdictWord.SLOWER}, allowed=0.005),
    ),
    Mutation(
        "a t test at 5 % after every visit",
        _replaced(Inference, "decide", mistakes.t_at_every_look),
        SAID_OF_EQUALS,
    ),
    Mutation(
        "measured until each arm is precise, then bars of one standard error",
        _replaced(Inference, "decide", mistakes.bars_that_do_not_overlap),
        SAID_OF_EQUALS,
    ),
    Mutation(
        "90 % printed as 95 %: one-sided ends at the level of two sides",
        _replaced(Inference, "sizes", mistakes.one_sided_ends),
        contracts.an_end_of_the_interval_is_out,
    ),
    Mutation(
        "an interval of normal quantiles at a stop that the data chose",
        _replaced(Inference, "sizes", mistakes.normal_ends),
        covered(INDEPENDENT, 0.02),
    ),
    Mutation(
        "ends of the interval moved inwards instead of outwards",
        _replaced(Inference, "sizes", mistakes.moved_inwards),
        contracts.an_end_of_the_interval_is_out,
    ),
    Mutation(
        "differences instead of ratios: no logarithm taken",
        _replaced(rows, "math", mistakes.Linear()),
        contracts.twice_is_twice,
    ),
    Mutation(
        "the direction of the response forgotten",
        lambda: patch.object(arguments, "ResponseSpec", mistakes.always_higher),
        contracts.larger_is_faster_unless_lower_is_better,
    ),
    Mutation(
        "outliers of the response removed, arm by arm",
        _replaced(MeasuredVisits, "series", mistakes.without_outliers),
        contracts.every_visit_counts,
    ),
    Mutation(
        "stalls looked for beyond three deviations that contain them",
        _replaced(diagnostics, "_stalls", mistakes.three_deviations),
        contracts.a_stall_is_seen_in_a_small_arm,
    ),
    Mutation(
        "the interval keeps what early looks have excluded, whatever the effect does since",
        _replaced(Inference, "sizes", mistakes.what_early_looks_have_left),
        contracts.an_effect_that_changes_is_within_its_interval,
    ),
    Mutation(
        "reasons to withhold asked again after the verdict, of all visits",
        _replaced(comparison, "_asked", mistakes.asked_of_all_visits),
        contracts.a_verdict_is_not_withdrawn,
    ),
    Mutation(
        "carry-over not looked for",
        _replaced(withholding, "carry_over_found", mistakes.nothing),
        contracts.carry_over_withholds,
    ),
    Mutation(
        "carry-over that shows withholds any difference",
        _replaced(withholding, "carry_over_found", mistakes.carry_over_withholds_all),
        contracts.a_difference_beyond_carry_over_is_told,
    ),
    Mutation(
        "a difference held against no carry-over at all",
        _replaced(withholding, "carry_over", mistakes.carry_over_of_no_size),
        contracts.carry_over_withholds,
    ),
    Mutation(
        "carry-over that is not proved absent withholds every verdict",
        _replaced(carry_over.CarryOver, "forbids", mistakes.not_inside),
        contracts.clean_studies_are_not_withheld,
    ),
    Mutation(
        "an interval of 90 % called one of 95 % (R's usl)",
        _replaced(carry_over, "t_bound", mistakes.Bound(two_sided=False)),
        contracts.carry_over_is_blamed_as_often_as_it_says,
    ),
    Mutation(
        "normal instead of Student's quantiles in a regression on twelve visits",
        _replaced(carry_over, "t_bound", mistakes.Bound(lost=10_000)),
        contracts.carry_over_is_blamed_as_often_as_it_says,
    ),
    Mutation(
        "nothing said of early stops that overstate",
        _replaced(notes, "_stopped_early", mistakes.none_at_all),
        contracts.an_early_stop_is_told_to_overstate,
    ),
    Mutation(
        "any order judged as if by the coin",
        _replaced(rows, "_possible", mistakes.nothing),
        contracts.an_order_that_no_coin_brings_is_refused,
    ),
    Mutation(
        "unequal spreads not told",
        _replaced(diagnostics, "SPREAD_LIMIT", 1e9),
        contracts.a_spread_of_four_is_told,
    ),
)


PASSES: tuple[Check, ...] = (
    *dict.fromkeys(each.check for each in MUTATIONS),
    consistent("quantised to 4 %", 0.03),
)
"""Every check, on the judge as shipped."""
