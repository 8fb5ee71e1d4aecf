"""Courses of windows with dips of known size, and how often the interval of a cell holds it.

A queue is simulated: operations come by the clock, constant or Poisson, to a service that stops,
or answers later, from a known moment on and for a known time, which varies from trial to trial as
on a real machine. The course is cut into the intervals of the engine, each event begins as the
session draws it, and the figures are those of ``trial/observe/dips.py``. What holds is the 95 %
interval of the median over the trials of a cell (``judge/cells.py``).

``python -m tests.calibration.dips STUDIES`` prints the table of ``docs/guide/measure-an-event.md``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from steelyard.judge.cells import median_interval
from steelyard.trial.observe.dips import Happened, course_of, figures_of
from steelyard.workloads.load import EVENT_ROWS

Floats = npt.NDArray[np.float64]
WINDOW_S, AT_S, LATE_S, CALM_S = 10.0, 3.0, 0.05, 1.0
WIDTH_S = WINDOW_S / EVENT_ROWS
START_S = 0.002
"""From the start of a command until it does anything."""


@dataclass(frozen=True)
class Case:
    """One kind of dip: ``lasts_s`` is its duration as defined, ``noise`` the log of a trial's."""

    name: str
    answered: Callable[[Floats, Floats, float, float], Floats]
    injected_s: float
    lasts_s: float
    worst_s: float
    rate_per_s: float
    poisson: bool
    noise: float


def stop(due_s: Floats, took_s: Floats, from_s: float, for_s: float) -> Floats:
    """Nothing is answered; all that waited is, at the end."""
    waits = (due_s >= from_s) & (due_s < from_s + for_s)
    return np.where(waits, from_s + for_s + 0.1 * took_s, due_s + took_s)


def slow(by_s: float) -> Callable[[Floats, Floats, float, float], Floats]:
    """Whatever comes meanwhile is answered so much later."""

    def answered(due_s: Floats, took_s: Floats, from_s: float, for_s: float) -> Floats:
        late = (due_s >= from_s) & (due_s < from_s + for_s)
        return due_s + np.where(late, by_s + 0.002, took_s)

    return answered


def cases() -> list[Case]:
    """Stops and slower answers, short and long, with arrivals of both kinds and two noises."""
    dips = (
        ("stop 100 ms", stop, 0.1, 0.1, 0.1),
        ("stop 500 ms", stop, 0.5, 0.5, 0.5),
        ("stop 2 s", stop, 2.0, 2.0, 2.0),
        ("200 ms slower for 1 s", slow(0.2), 1.0, 1.2, 0.202),
    )
    loads = ((500.0, True, 0.1), (1000.0, False, 0.03))
    return [Case(*dip, *load) for load in loads for dip in dips]


def trial(case: Case, random: np.random.Generator) -> dict[str, float | None]:
    """The figures of one trial, in seconds."""
    for_s = case.injected_s * float(np.exp(random.normal(0, case.noise)))
    began_s = AT_S + random.uniform(0, WIDTH_S)
    count = int(case.rate_per_s * WINDOW_S * 1.2) + 50
    gaps = random.exponential(1 / case.rate_per_s, count) if case.poisson else None
    due_s = (
        np.arange(count) / case.rate_per_s + random.uniform(0, 1 / case.rate_per_s)
        if gaps is None
        else np.cumsum(gaps)
    )
    due_s = due_s[due_s < WINDOW_S]
    took_s = 0.002 * random.lognormal(0, 0.3, len(due_s))
    answered_s = case.answered(due_s, took_s, began_s + START_S, for_s)
    event = Happened(began_s * 1e9, (began_s + for_s) * 1e9, 0, LATE_S * 1e9, CALM_S * 1e9)
    found = figures_of(course_of(document(due_s, answered_s)), event)
    return {
        name: None if found[name].value is None else (found[name].value or 0.0) / 1e9
        for name in ("duration", "recovery", "worst_time")
    }


def document(due_s: Floats, answered_s: Floats) -> dict[str, Any]:
    """What the engine would write of this window."""
    places = np.floor(answered_s / WIDTH_S).astype(int)
    inside = (places >= 0) & (places < EVENT_ROWS)
    counts = np.bincount(places[inside], minlength=EVENT_ROWS)
    longest = np.zeros(EVENT_ROWS)
    np.maximum.at(longest, places[inside], (answered_s - due_s)[inside])
    return {
        "series": [
            {
                "start_ns": round(i * WIDTH_S * 1e9),
                "ok": int(counts[i]),
                "errors": 0,
                "max_ns": round(longest[i] * 1e9) if counts[i] else None,
            }
            for i in range(EVENT_ROWS)
        ]
    }


def held(case: Case, studies: int, trials: int, seed: int) -> dict[str, float]:
    """In which share of the studies the interval holds each true median."""
    random = np.random.default_rng(seed)
    true_s = {
        "duration": case.lasts_s,
        "recovery": case.lasts_s + START_S,
        "worst_time": case.worst_s,
    }
    holds = dict.fromkeys(true_s, 0)
    for _ in range(studies):
        found = [trial(case, random) for _ in range(trials)]
        for name, true in true_s.items():
            low, high = median_interval([v for each in found if (v := each[name]) is not None])
            resolved_s = 1 / case.rate_per_s
            if low is not None and high is not None:
                holds[name] += low - resolved_s <= true <= high + resolved_s
    return {name: count / studies for name, count in holds.items()}


def table(studies: int, trials: int = 12) -> Iterator[str]:
    """One row for each case."""
    yield "| dip | rate | arrivals | noise | duration | recovery | longest response time |"
    yield "|---|---|---|---|---|---|---|"
    for number, case in enumerate(cases()):
        shares = held(case, studies, trials, number)
        arrivals = "Poisson" if case.poisson else "constant"
        said = " | ".join(f"{100 * share:.1f} %" for share in shares.values())
        yield f"| {case.name} | {case.rate_per_s:g}/s | {arrivals} | {case.noise:.0%} | {said} |"


if __name__ == "__main__":
    for line in table(int(sys.argv[1])):
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()
