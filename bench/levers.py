"""What two ways to an earlier answer would have gained, of runs that are on disk.

``python -m bench.levers RUN...`` replays each run and changes none of its verdicts:

- *pilot*: the window that its first eight visits would have chosen, and the time that the same
  certainty takes with it, by the noise of all later visits;
- *levels*: the time of trials at levels that were decided, together with the verdict over all
  levels, while others were open.

It reads records only. Figures of one run are noisy: give many.
"""

from __future__ import annotations

import math
import statistics
import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

from steelyard.inference.sequential import DECIDED
from steelyard.judge.analyses.planning.lengths import best, within
from steelyard.records.archive import Run, open_run
from steelyard.records.events import InterimLook
from steelyard.records.schema import Outcome, TrialRecord

PILOT_VISITS = 8
SHORTEST_S = 0.1
_OVERALL: tuple[tuple[str, object], ...] = ()
"""The conditions of the verdict over all levels."""
_DECIDED = {word.value for word in DECIDED}


def main() -> None:
    """One line a run."""
    for path in sys.argv[1:]:
        run = open_run(Path(path))
        good = [record for record in run.records() if record.outcome is Outcome.OK]
        print(f"{run.facts().study:22} {_pilot_words(run, good)}; {_levels_words(run, good)}")


def _pilot_words(run: Run, good: Sequence[TrialRecord]) -> str:
    window_s = statistics.median(_window_s(record) for record in good)
    visits = sorted({record.visit for record in good})
    courses = {key: load.course for key, load in run.loads() if load.course is not None}
    rates = {key: rate for key, each in courses.items() if (rate := within(each)) is not None}
    first, later = visits[:PILOT_VISITS], visits[PILOT_VISITS:]
    if len(later) < PILOT_VISITS or not rates:
        return "pilot: too few visits or intervals"
    chosen = _parts(good, first, rates, window_s)
    truth = _parts(good, later, rates, window_s)
    pilot_s = max(SHORTEST_S, best(window_s, *chosen).best_window_s)
    oracle_s = max(SHORTEST_S, best(window_s, *truth).best_window_s)
    spent = _wall_s(good, first) / _wall_s(good, visits)
    return (
        f"pilot: {window_s:.2g} s -> {pilot_s:.2g} s (all later visits: {oracle_s:.2g} s), time "
        f"{_price(truth, window_s, pilot_s):.2f} ({_price(truth, window_s, oracle_s):.2f}), "
        f"itself {spent:.0%} of the run"
    )


def _parts(
    good: Sequence[TrialRecord], visits: Sequence[int], rates: dict[str, float], window_s: float
) -> tuple[float, float, float]:
    """Seconds of a trial beside its window; the noise of a visit, of a second of its windows."""
    own = [record for record in good if record.visit in set(visits)]
    conditions = {tuple(sorted(record.cell.conditions.items())) for record in own}
    setup_s = statistics.median(_wall_of(record) - window_s for record in own)
    seen = [rates[key] for record in own if (key := _key(record)) in rates]
    within_log = math.sqrt(statistics.fmean(seen) / len(conditions)) if seen else 0.0
    return max(0.0, setup_s), _noise(own), within_log


def _noise(own: Iterable[TrialRecord]) -> float:
    """The deviation of a visit's mean logarithm of throughput within its arm."""
    logs: dict[tuple[str, int], list[float]] = defaultdict(list)
    for record in own:
        value = record.responses["throughput"].value
        if value:
            logs[record.cell.system, record.visit].append(math.log(value))
    arms: dict[str, list[float]] = defaultdict(list)
    for (system, _), each in logs.items():
        arms[system].append(statistics.fmean(each))
    spread = [(len(arm) - 1, statistics.variance(arm)) for arm in arms.values() if len(arm) > 1]
    return math.sqrt(sum(n * v for n, v in spread) / sum(n for n, _ in spread))


def _price(truth: tuple[float, float, float], written_s: float, other_s: float) -> float:
    """Time for the same certainty with another window, as a share of that with this one."""
    setup_s, noise_log, within_log = truth
    between = max(0.0, noise_log**2 - within_log**2 / written_s)

    def price(length_s: float) -> float:
        return (setup_s + length_s) * (between + within_log**2 / length_s)

    return price(other_s) / price(written_s)


def _levels_words(run: Run, good: Sequence[TrialRecord]) -> str:
    decided = _decided_at(run)
    levels = {conditions for conditions in decided if conditions}
    overall = decided.get(_OVERALL)
    if not levels or overall is None:
        return "levels: one, or the verdict over all levels is open"
    spared = 0.0
    for record in good:
        at = decided.get(tuple(sorted(record.cell.conditions.items())))
        if at is not None and record.visit > max(at, overall):
            spared += _wall_of(record)
    visits = sorted({record.visit for record in good})
    return f"levels: {spared / _wall_s(good, visits):.0%} of the time"


def _decided_at(run: Run) -> dict[tuple[tuple[str, object], ...], int | None]:
    """For each level the visits done when it was decided; ``None``: never."""
    found: dict[tuple[tuple[str, object], ...], int | None] = {}
    for event in run.events():
        if isinstance(event, InterimLook):
            for each in event.comparisons:
                key = tuple(sorted((each.conditions or {}).items()))
                if found.get(key) is None:
                    found[key] = event.visits_done if each.word in _DECIDED else None
    return found


def _window_s(record: TrialRecord) -> float:
    return record.phases_ns.get("window", 0) / 1e9


def _wall_of(record: TrialRecord) -> float:
    return (record.finished_unix_ns - record.started_unix_ns) / 1e9


def _wall_s(good: Iterable[TrialRecord], visits: Sequence[int]) -> float:
    wanted = set(visits)
    return sum(_wall_of(record) for record in good if record.visit in wanted)


def _key(record: TrialRecord) -> str:
    return f"{record.trial:04d}-{record.attempt}"


if __name__ == "__main__":
    main()
