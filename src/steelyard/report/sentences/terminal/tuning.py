"""What a search for the best candidate found, in few lines."""

from __future__ import annotations

from collections.abc import Iterator

from steelyard.judge.kinds.verdict_notes import NoVariation
from steelyard.records.results.tuning import Outcome, Standing, Tuning
from steelyard.report import notes
from steelyard.report.effects import percent_of
from steelyard.report.figures import counted, fixed, listed, percent, significant
from steelyard.report.sentences.terminal.bisection import change_text
from steelyard.study.labels import Labels

_NAMES = 8


def tuning_lines(found: Tuning) -> list[str]:
    """The answer, the gain, who is like it, what bounds it."""
    if found.outcome is Outcome.NOT_JUDGED:
        reason = notes.text(NoVariation(), Labels())
        return [f"not judged: {reason}", *_failed(found), *_basis(found)]
    return [*_answer(found), *_gain(found), *_others(found), *_basis(found)]


def block_line(number: int, visits: int, remaining: int, leader: str, further: int) -> str:
    """``after 3 blocks, 150 visits: 12 candidates left, 6 ahead; ...``."""
    done = f"after {counted(number, 'block')}, {counted(visits, 'visit')}: "
    if not further:
        return f"{done}{leader} is named"
    open_ones = f"{counted(remaining, 'candidate')} left, {leader} ahead"
    return f"{done}{open_ones}; at most {further} further visits at this noise"


def _answer(found: Tuning) -> Iterator[str]:
    if found.outcome is Outcome.FOUND:
        yield f"best: {found.best}, within {_margin(found)} of the best"
        return
    still = len(found.of(Standing.OPEN))
    yield f"undecided: {found.best} is ahead; {counted(still, 'candidate')} may be better by more"
    yield "a larger --budget or --margin may decide it"


def _gain(found: Tuning) -> Iterator[str]:
    if found.best == found.baseline:
        yield (
            f"it is the baseline: no candidate is better by more than {_margin(found)}"
            if (found.outcome is Outcome.FOUND)
            else "it is the baseline"
        )
    elif found.gain is not None:
        yield f"{change_text(found.gain)}, in {found.gain_visits} further visits"


def _others(found: Tuning) -> Iterator[str]:
    for standing, words in (
        (Standing.ALIKE, "not distinguished from it"),
        (Standing.OPEN, "may be better"),
    ):
        yield from _standing(found, standing, words)
    yield from _failed(found)


def _failed(found: Tuning) -> Iterator[str]:
    yield from _standing(found, Standing.FAILED, "left out, because they failed")


def _standing(found: Tuning, standing: Standing, words: str) -> Iterator[str]:
    names = found.of(standing)
    if names:
        shown = [*names[:_NAMES], *([f"{len(names) - _NAMES} more"] * (len(names) > _NAMES))]
        yield f"{words} ({len(names)}): {listed(shown)}"


def _basis(found: Tuning) -> Iterator[str]:
    blocks = f"{counted(found.visits, 'visit')} in {counted(found.blocks, 'block')} in random order"
    noise = f"; noise of a visit {significant(percent_of(found.noise_sd_log), 2)} %"
    is_judged = found.outcome is not Outcome.NOT_JUDGED
    yield f"{len(found.candidates)} candidates, {blocks}{noise if is_judged else ''}"
    if found.outcome is Outcome.FOUND:
        yield (
            f"one that is worse than the best by more than {_margin(found)} is named in at most "
            f"{percent(found.alpha)} of such searches"
        )


def _margin(found: Tuning) -> str:
    share = percent_of(found.margin_log)
    return f"{fixed(share, 0 if abs(share - round(share)) < 1e-9 else 1)} %"
