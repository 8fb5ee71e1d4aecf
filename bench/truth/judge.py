"""From what a tool reports, and what is known, to a judgement. No measuring here."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from bench.truth import criteria
from scipy import stats

FAILED_BY_KIND = 99.0
"""The miss of a judgement that has no scale: something is there that must not be."""


Stamps = npt.NDArray[Any]


@dataclass(frozen=True)
class Report:
    """What a tool says of its own run, in nanoseconds. What it does not say is None."""

    count: int | None = None
    per_s: float | None = None
    mean_ns: float | None = None
    p50_ns: float | None = None
    p90_ns: float | None = None
    p95_ns: float | None = None
    p99_ns: float | None = None
    max_ns: float | None = None
    lateness_p99_ns: float | None = None
    lateness_max_ns: float | None = None
    step_ns: float = 1.0
    step_share: float = 0.0
    doubts: tuple[str, ...] = ()
    source: str = ""


@dataclass(frozen=True)
class Judgement:
    """`miss` is the worst figure over its limit: 1 or less passes. None: cannot be judged."""

    miss: float | None
    figures: dict[str, Any] = field(default_factory=dict)
    note: str = ""

    @property
    def passed(self) -> bool:
        return self.miss is not None and self.miss <= 1

    @property
    def by_kind(self) -> bool:
        """Something is there that must not be, or is not there that must."""
        return self.miss == FAILED_BY_KIND


def stop_quantile_ns(q: float, stop_ns: float, window_ns: float) -> float:
    """Response time at quantile q of an evenly spread open load whose server stood still once.

    Arrivals of the stop wait for its rest; all others are taken as answered at once.
    """
    return max(0.0, stop_ns - window_ns * (1 - q))


def server_stop(report: Report, stop_ns: float, window_ns: float) -> Judgement:
    """Compares p90, p95, p99 and max, where told, with the analytic ones."""
    told_ns = (report.p90_ns, report.p95_ns, report.p99_ns, report.max_ns)
    reported = dict(zip(("p90", "p95", "p99", "max"), told_ns, strict=True))
    expected = {
        name: stop_quantile_ns(q, stop_ns, window_ns)
        for name, q in (("p90", 0.9), ("p95", 0.95), ("p99", 0.99), ("max", 1.0))
    }
    told = {name: value for name, value in reported.items() if value is not None}
    figures = {"stop_ns": stop_ns, "reported_ns": reported, "expected_ns": expected}
    if not told:
        return Judgement(None, figures, "reports none of p90, p95, p99 and max")
    worst = max(abs(value - expected[name]) for name, value in told.items())
    return Judgement(worst / (criteria.STOP_TOLERANCE * stop_ns), figures)


def generator_stop(report: Report, stop_ns: float, window_ns: float, *, rate: bool) -> Judgement:
    """Looks for the stop in the times, of latency or lateness, that the tool reports."""
    longest = largest(report.max_ns, report.lateness_max_ns)
    p99 = largest(report.p99_ns, report.lateness_p99_ns)
    expected = stop_quantile_ns(0.99, stop_ns, window_ns)
    figures: dict[str, Any] = {"stop_ns": stop_ns, "max_ns": longest, "p99_ns": p99}
    figures |= {"expected_p99_ns": expected, "doubts": list(report.doubts), "rate": rate}
    if longest is None or (rate and p99 is None):
        return Judgement(None, figures, "reports no largest time")
    misses = [criteria.SHOWN_SHARE * stop_ns / max(longest, 1.0)]
    if rate and p99 is not None:
        misses.append(abs(p99 - expected) / (criteria.SHOWN_TOLERANCE * stop_ns))
    return Judgement(max(misses), figures, "" if rate else "closed: only max is judged")


def largest(*values: float | None) -> float | None:
    """The largest of those that are known."""
    return max((value for value in values if value is not None), default=None)


def delay(report: Report, sink_delays_ns: Stamps | Sequence[float]) -> Judgement:
    """What is above the delay that the server really kept."""
    at_p50, at_p99 = (float(np.quantile(sink_delays_ns, q)) for q in (0.5, 0.99))
    figures: dict[str, Any] = {"sink_p50_ns": at_p50, "sink_p99_ns": at_p99}
    if report.p50_ns is None or report.p99_ns is None:
        few = report.count is not None and report.count < criteria.LEAST_ANSWERS
        return Judgement(
            FAILED_BY_KIND if few else None,
            figures,
            "reports no p99" + (" of so few answers" if few else ""),
        )
    above_p50, above_p99 = report.p50_ns - at_p50, report.p99_ns - at_p99
    figures |= {"above_p50_ns": above_p50, "above_p99_ns": above_p99, "step_ns": report.step_ns}
    if report.step_ns > criteria.DELAY_P50_NS:
        return Judgement(None, figures, f"prints steps of {report.step_ns / 1e3:.0f} µs")
    misses = [above_p50 / criteria.DELAY_P50_NS, above_p99 / criteria.DELAY_P99_NS]
    if above_p50 < -report.step_ns - report.p50_ns * report.step_share:
        return Judgement(FAILED_BY_KIND, figures, "faster than the server")
    return Judgement(max(misses), figures)


def little(report: Report, users: int) -> Judgement:
    """Users against throughput times mean latency."""
    figures = {"users": users, "per_s": report.per_s, "mean_ns": report.mean_ns}
    if report.per_s is None or report.mean_ns is None:
        return Judgement(None, figures, "reports no mean latency")
    product = report.per_s * report.mean_ns / 1e9
    figures["product"] = product
    if report.step_ns / 2 > criteria.LITTLE_TOLERANCE * report.mean_ns:
        return Judgement(None, figures, f"prints steps of {report.step_ns / 1e3:.0f} µs")
    return Judgement(abs(product - users) / users / criteria.LITTLE_TOLERANCE, figures)


def constant_gaps(stamps_ns: Stamps | Sequence[int], rate: float) -> Judgement:
    """Variation of gaps and their mean, without the first and the last tenth of the run."""
    gaps = np.diff(middle(stamps_ns))
    if len(gaps) < 100:
        return Judgement(FAILED_BY_KIND, {"arrivals": len(stamps_ns)}, "too few arrivals")
    cv = float(np.std(gaps) / np.mean(gaps))
    reached = 1e9 / float(np.mean(gaps))
    off = abs(reached / rate - 1) / criteria.RATE_TOLERANCE
    figures = {"cv": cv, "per_s": reached, "gaps": len(gaps), "cv_of_slices": slices_cv(gaps)}
    return Judgement(max(cv / criteria.GAP_CV, off), {**figures, "rate_miss": off})


def slices_cv(gaps: Stamps) -> float:
    """Median of the variation in slices of 100 gaps: what it is between interruptions."""
    slices = gaps[: len(gaps) // 100 * 100].reshape(-1, 100)
    return float(np.median(slices.std(axis=1) / slices.mean(axis=1)))


def poisson_gaps(stamps_ns: Stamps | Sequence[int], rate: float) -> Judgement:
    """Kolmogorov-Smirnov against the exponential law of the rate that was asked for."""
    gaps = np.diff(middle(stamps_ns))
    if len(gaps) < 100:
        return Judgement(FAILED_BY_KIND, {"arrivals": len(stamps_ns)}, "too few arrivals")
    found = stats.kstest(gaps, "expon", args=(0, 1e9 / rate))
    limit = criteria.KS_CRITICAL / math.sqrt(len(gaps))
    figures = {"d": float(found.statistic), "limit": limit, "p": float(found.pvalue)}
    figures["gaps"] = len(gaps)
    return Judgement(float(found.statistic) / limit, figures)


def middle(stamps_ns: Stamps | Sequence[int]) -> Stamps:
    """Stamps in order of time, without the first and the last tenth of the run."""
    stamps: Stamps = np.sort(np.asarray(stamps_ns, dtype=np.int64))
    if len(stamps) == 0:
        return stamps
    tenth = (stamps[-1] - stamps[0]) // 10
    inner: Stamps = stamps[(stamps >= stamps[0] + tenth) & (stamps <= stamps[-1] - tenth)]
    return inner


def against_log(report: Report, samples_ns: Sequence[float]) -> Judgement:
    """Every figure that the tool reports against the same figure of all samples."""
    samples = np.sort(np.asarray(samples_ns, dtype=np.float64))
    if len(samples) == 0:
        return Judgement(FAILED_BY_KIND, {}, "the log is empty")
    wrong, checked = {}, []
    for name, told, low, high in expectations(report, samples):
        if told is None:
            continue
        checked.append(name)
        if not low <= told <= high:
            wrong[name] = [told, low, high]
    figures = {"samples": len(samples), "checked": checked, "wrong": wrong}
    return Judgement(FAILED_BY_KIND if wrong else 0.0, figures)


def expectations(report: Report, samples: Stamps) -> list[tuple[str, float | None, float, float]]:
    """Name, told figure, lowest and highest that the samples allow."""
    count, step = len(samples), report.step_ns
    mean = float(samples.mean())
    rows: list[tuple[str, float | None, float, float]] = [
        ("count", report.count, count, count),
        ("max", report.max_ns, float(samples[-1]) - step, float(samples[-1]) + step),
        ("mean", report.mean_ns, mean - step, mean + step),
    ]
    told_ns = (report.p50_ns, report.p90_ns, report.p95_ns, report.p99_ns)
    quantiles = zip((0.5, 0.9, 0.95, 0.99), told_ns, strict=True)
    for q, told in quantiles:
        rank = math.ceil(q * count) - 1
        low = float(samples[max(rank - 1, 0)]) * (1 - report.step_share) - step
        high = float(samples[min(rank + 1, count - 1)]) * (1 + report.step_share) + step
        rows.append((f"p{q * 100:.0f}", told, low, high))
    return rows


@dataclass(frozen=True)
class Slope:
    """Change per unit of x, with its 95 % interval."""

    value: float
    low: float
    high: float


def slope(x: Stamps | Sequence[float], y: Sequence[float], blocks: int = 30) -> Slope | None:
    """Slope of a straight line through block means, which are less dependent than the values.

    None with fewer than three blocks.
    """
    size = max(1, len(x) // blocks)
    used = len(x) // size
    if used < 3:
        return None
    means = [np.asarray(v[: used * size], float).reshape(used, size).mean(axis=1) for v in (x, y)]
    from_mean = means[0] - means[0].mean()
    spread = float(from_mean @ from_mean)
    value = float(from_mean @ means[1]) / spread
    rest = means[1] - means[1].mean() - value * from_mean
    error = math.sqrt(float(rest @ rest) / (used - 2) / spread)
    half = float(stats.t.ppf(0.975, used - 2)) * error
    return Slope(value, value - half, value + half)


def soak(rss_bytes: Sequence[float], per_s: Sequence[float]) -> Judgement:
    """Slopes of memory and throughput an hour, from one value each second."""
    hours = [np.arange(len(values)) / 3600 for values in (rss_bytes, per_s)]
    memory, pace = slope(hours[0], rss_bytes), slope(hours[1], per_s)
    if memory is None or pace is None:
        return Judgement(None, {}, "too short for a slope")
    mean = float(np.mean(per_s))
    shares = [value / mean for value in (pace.value, pace.low, pace.high)]
    figures = {
        "rss_bytes_per_h": [memory.value, memory.low, memory.high],
        "rss_first_bytes": float(rss_bytes[0]),
        "rss_last_bytes": float(rss_bytes[-1]),
        "throughput_share_per_h": shares,
        "per_s": mean,
        "seconds": len(per_s),
    }
    sides = (
        (memory.low / criteria.SOAK_RSS_BYTES_PER_H, memory.high / criteria.SOAK_RSS_BYTES_PER_H),
        (shares[1] / criteria.SOAK_THROUGHPUT_PER_H, shares[2] / criteria.SOAK_THROUGHPUT_PER_H),
        (-shares[2] / criteria.SOAK_THROUGHPUT_PER_H, -shares[1] / criteria.SOAK_THROUGHPUT_PER_H),
    )
    surely, perhaps = max(low for low, _ in sides), max(high for _, high in sides)
    if surely <= 1 < perhaps:
        return Judgement(None, figures, "the interval is wider than the limit: run longer")
    return Judgement(surely if surely > 1 else max(perhaps, 0.0), figures)
