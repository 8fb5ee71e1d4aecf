"""The goals: what is wanted, in words that were written before anything was measured."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from scipy.stats import beta

_BOUND = 0.99


class Standing(StrEnum):
    """How a goal stands. ``OPEN``: the bounds of what was run lie on both sides of it."""

    REACHED = "reached"
    OPEN = "open: too few studies"
    NOT_REACHED = "**not reached**"
    NOT_MEASURED = "not measured"


@dataclass(frozen=True)
class Told:
    """One goal on the page: how it stands, the figure beside it, and its section."""

    standing: Standing
    reached: str
    lines: tuple[str, ...] = ()


GOALS: dict[str, str] = {
    "G1": "equal systems are called different in at most 5.0 % of studies, for every noise and "
    "design; upper 99 % bound at most 5.5 %",
    "G2": "at a difference of exactly the margin, *equivalent* in at most 5 % (same bound) and the "
    "wrong direction in at most 0.5 %",
    "G3": "on independent noise of 2 %, for nothing above 2 % and for 2 % (the margin), at most "
    "1.25 times the mean visits of who knows that noise (the best of ten spending functions)",
    "G4": "at most 1.25 times the trials of an oracle up to 2.5 standard deviations; at most 60 % "
    "of the best fixed number of pairs at equal power",
    "G5": "at equal error and power: over the noises no more trials at 8.7 % and at 5 % than a "
    "number of random pairs that is fixed beforehand, judged once by t, and as often right",
    "G6": "on banks of real trials: equal at most 5 % false, injected differences found; at least "
    "3,000 trials each, four machines",
    "G7": "60 whole studies of equal systems on two machines, at most 6 false verdicts",
    "G8": "the same study twice: never faster and slower, in 200; different and equivalent in at "
    "most 10 %, which is what both error rates allow",
    "G9": "screening of factors: family-wise error at most 5 %; 4 % effects of 2^3 within 40 "
    "trials with probability 0.95; intervals of shares cover in 93 to 97 %",
    "G10": "the peak's interval covers in 93 to 98 %; a peak claimed on saturation in at most 2 %; "
    "power of *retrograde* at least 0.9",
    "G11": "steady state: bias left at most a quarter of the margin, or refused, in 95 % of 12 "
    "shapes of warm-up",
    "G12": "each injected fault is caught in at least 95 % and never becomes a verdict",
    "G13": "the judge is a pure function: bit-identical replay; a script in R agrees on 20 studies",
    "G14": "each of at least 25 known statistical mistakes, planted, makes validation fail",
    "G15": "arms of spread 1 to 2 and 1 to 4: at most 5 % false, as shipped (same bound as G1)",
    "G16": "guardrails: a system worse by the margin of one is called faster in at most 5 % "
    "(same bound); worse by three margins it is a trade-off in at least 90 %",
    "G17": "claims: at the very bound, supported in at most 5 % and contradicted in at most 5 % of "
    "studies, of several claims together (same bound)",
    "G18": "failures: systems that fail alike, however failures cluster, are told apart in at most "
    "5 % (same bound); likewise where failures leave percentiles without a value",
    "G19": "races: in at most 5 % of studies is any equal system called different, whoever leaves "
    "and whatever the spreads (same bound)",
    "G21": "a canary heard before each visit: at most 5 % false (same bound), and fewer visits",
    "G22": "stalls in one arm alone, in 5 to 20 % of its visits: that system is called faster "
    "in at most 2.5 % (upper 99 % bound at most 2.75 %); that it is called slower is no error",
    "G23": "an effect that changes in size: at the stop and later the interval holds the mean "
    "effect so far in at least 95 %, and the estimate is never outside its interval",
    "G24": "a slow part of the machine that one system alone feels is taken for a difference, "
    "which no test on one machine can prevent: beside noise of 2 %, in at most 20 % of studies "
    "where it is 1 %, 40 % where it is 2 %, 70 % where it is 4 %",
    "G25": "warnings and invalid trials by chance: a verdict is taken back within 24 visits in "
    "none of at least 5,000 studies",
    "G26": "several machines, whatever the effect and the noise of each: where the mean effect is "
    "0, different on all of these in at most 5 % of studies, and on others like them where "
    "machines are sampled; intervals of the mean and of all deviations together miss in at most "
    "5 % (same bound)",
    "G28": "gates of 15 minutes under load that changes, recorded and live: at most 5 % of equal "
    "builds fail, a build that is 10 % slower does in at least 90 %, and so does one that is as "
    "much slower as the plan says it finds",
    "G29": "histories of 1,000 releases: of the releases that are named at most 5 % are not slower "
    "(mean share); one that is three margins slower is named by the second release after it in at "
    "least 90 %",
}


_DECISION = "[decision 032](../decisions/032-goals-that-are-not-reached.md)"

WHY_NOT: dict[str, str] = {
    "G2": "in two modes 6 % apart, and beside something that runs on every other visit, an effect "
    "of 2 % is half of the noise, and either side alone has 2.5 %; what to conclude: " + _DECISION,
    "G3": "the judge knows neither the variance nor that both arms have the same, and makes two "
    "tests; what was tried: " + _DECISION,
    "G28": "trials of the busy recordings spread by 50 to 90 % (14 to 23 processes that wanted to "
    "run on two processors), so that 1,000 of them do not show 10 % in nine of ten gates; live "
    "gates had 30 s instead of 15 minutes, beside much else",
    "G6": "all banks are of virtual machines of one type, and two have fewer than 3,000 trials",
}
"""What is known of the reasons, said while a goal is not reached."""


def upper_bound(count: int, of: int) -> float:
    """One-sided 99 % bound of a share (Clopper and Pearson)."""
    return 1.0 if count == of else float(beta.ppf(_BOUND, count + 1, of - count))


def lower_bound(count: int, of: int) -> float:
    """Likewise from below."""
    return 0.0 if count == 0 else float(beta.ppf(1 - _BOUND, count, of - count + 1))


def of_rate(count: int, studies: int, most: float) -> Standing:
    """Whether a rate is known to be at most ``most``, known to be above it, or neither."""
    return of_bounds(lower_bound(count, studies), upper_bound(count, studies), most)


def of_share(count: int, of: int, least: float) -> Standing:
    """Whether a share is known to be at least ``least``, known to be below it, or neither."""
    return of_rate(of - count, of, 1 - least)


def of_bounds(low: float, high: float, most: float) -> Standing:
    """Likewise of any figure that is known to lie between two bounds."""
    if high <= most:
        return Standing.REACHED
    return Standing.NOT_REACHED if low > most else Standing.OPEN


def together(standings: list[Standing]) -> Standing:
    """The worst of several."""
    for worst in (Standing.NOT_REACHED, Standing.OPEN, Standing.NOT_MEASURED):
        if worst in standings:
            return worst
    return Standing.REACHED if standings else Standing.NOT_MEASURED


def rate_text(count: int, studies: int) -> str:
    """A share with its two bounds, as the tables say it."""
    low, high = lower_bound(count, studies), upper_bound(count, studies)
    return f"{count / studies:.2%} ({100 * low:.2f} to {high:.2%})"


def worst_bounds(counts: Iterable[tuple[int, int]]) -> str:
    """The largest upper bound of several shares, and the smallest number of studies."""
    known = list(counts)
    worst = max(upper_bound(count, of) for count, of in known)
    return f"the highest bound of {len(known)} cells is {worst:.2%}, with {sizes_text(known)}"


def sizes_text(counts: Iterable[tuple[int, int]]) -> str:
    """How many studies each cell has."""
    sizes = sorted(of for _, of in counts)
    least, most = f"{sizes[0]:,}", f"{sizes[-1]:,}"
    return f"{least} studies each" if least == most else f"{least} to {most} studies each"
