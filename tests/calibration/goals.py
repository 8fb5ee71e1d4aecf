"""The goals: what is wanted, in words that were written before anything was measured."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from scipy.stats import beta

_BOUND = 0.99


class Standing(StrEnum):
    """How a goal stands. ``OPEN``: what was run cannot tell yet."""

    REACHED = "reached"
    OPEN = "open"
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
    "G3": "at 2 % noise a median of at most 10 visits at 8.7 %, 12 at 5 %, 30 at 2 % (the margin), "
    "36 for nothing above 2 %; 90 % of studies within 2.1 times the median; undecided at 96 in at "
    "most 2 % (bimodal 15 %)",
    "G4": "at most 1.25 times the trials of an oracle up to 2.5 standard deviations; at most 60 % "
    "of the best fixed number of pairs at equal power",
    "G5": "against Phoronix at most 1.4 times its trials at 8.7 % and 1.8 times at 5 %; against "
    "10 + 10 at most 53 % and 65 % of its trials; false verdicts at most 5 %",
    "G6": "on banks of real trials: equal at most 5 % false, injected differences found; at least "
    "3,000 trials each, four machines",
    "G7": "60 whole studies of equal systems on two machines, at most 6 false verdicts",
    "G8": "the same study twice: never faster and slower, in 200; the same verdict in at least "
    "90 %",
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
}


def upper_bound(count: int, of: int) -> float:
    """One-sided 99 % bound of a share (Clopper and Pearson)."""
    return 1.0 if count == of else float(beta.ppf(_BOUND, count + 1, of - count))


def lower_bound(count: int, of: int) -> float:
    """Likewise from below."""
    return 0.0 if count == 0 else float(beta.ppf(1 - _BOUND, count, of - count + 1))


def of_rate(count: int, studies: int, most: float) -> Standing:
    """Whether a rate is known to be at most ``most``, known to be above it, or neither."""
    if upper_bound(count, studies) <= most:
        return Standing.REACHED
    above = lower_bound(count, studies) > most
    return Standing.NOT_REACHED if above else Standing.OPEN


def together(standings: list[Standing]) -> Standing:
    """The worst of several."""
    for worst in (Standing.NOT_REACHED, Standing.OPEN, Standing.NOT_MEASURED):
        if worst in standings:
            return worst
    return Standing.REACHED if standings else Standing.NOT_MEASURED


def of_figure(value: float, most: float) -> Standing:
    """Of a figure without a bound: medians, ratios of means."""
    return Standing.REACHED if value <= most else Standing.NOT_REACHED


def rate_text(count: int, studies: int) -> str:
    """A share with its upper bound, as the tables say it."""
    return f"{count / studies:.2%} (≤ {upper_bound(count, studies):.2%})"
