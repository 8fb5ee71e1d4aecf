"""What a timing answers, in few lines: the verdicts, how they came about, what to beware of."""

from __future__ import annotations

from collections.abc import Iterator

from steelyard.judge.kinds.caveats import BlockUnfinished
from steelyard.judge.own_trials.verdicts import TrialsVerdict
from steelyard.records.results.timing import Timing
from steelyard.report.figures import counted, listed, quantity
from steelyard.report.notes import text
from steelyard.report.sentences.assumptions import note_lines
from steelyard.report.sentences.terminal.answer import answer
from steelyard.report.sentences.terminal.trials import view_of
from steelyard.report.vocabulary import DECIDED
from steelyard.study.labels import Labels

_COUNTED = ("executions", "they count like the others")
_LEFT_OUT = ("operations", "throughput and response times are those of the others")


def timing_lines(timing: Timing, found: TrialsVerdict) -> list[str]:
    """Without what every verdict rests on, which ``trials_lines`` says."""
    view = view_of(found, timing.response.label)
    lines = [str(main) for main, _ in answer(view)]
    return [
        *lines,
        "",
        _design(timing),
        *_fixed(timing, found),
        *_unfinished(found),
        *window_lines(timing),
        *note_lines(view),
    ]


def _design(timing: Timing) -> str:
    """What the figures of the table are, how they came about, and what they include."""
    each = timing.executions_per_visit
    repeated = f", each the mean of {each} executions" if each > 1 else ""
    done = f"Medians over visits; {counted(len(timing.visits), 'visit')} in random order{repeated}"
    shell = (
        ""
        if timing.shell_s is None
        else f" Each execution includes the start of a shell, {quantity(timing.shell_s, 's')}."
    )
    return f"{done}; at most 5 % of such studies call equal subjects different.{shell}"


def _fixed(timing: Timing, found: TrialsVerdict) -> Iterator[str]:
    """Why throughput hardly differs where the load has a rate of its own."""
    is_open = any(each.word not in DECIDED for each in found.verdicts)
    if timing.rate is not None and timing.primary == "throughput" and is_open:
        yield (
            f"The rate is fixed by -R {timing.rate}: throughput differs only where a server cannot "
            "keep up. --response latency_p50 judges response times."
        )


def _unfinished(found: TrialsVerdict) -> list[str]:
    """That the last of the visits may count in no comparison."""
    return [
        f"{text(each, Labels())}." for each in found.caveats if isinstance(each, BlockUnfinished)
    ]


def window_lines(timing: Timing) -> list[str]:
    """What failed, and whether it is in the figures; of a server, windows without an answer, or
    with too few for a percentile.
    """
    return [*_failed(timing), *_repeated(timing), *_too_few(timing)]


def _failed(timing: Timing) -> Iterator[str]:
    for name in timing.subjects:
        failures = timing.failures(name)
        if failures:
            is_command = bool(timing.executions(name))
            kinds = ", ".join(
                f"{kind if is_command else _in_words(kind)}: {count:,}"
                for kind, count in failures.most_common()
            )
            what, counts = _COUNTED if is_command else _LEFT_OUT
            yield (
                f"{failures.total():,} of {timing.attempted(name):,} {what} of {name} failed "
                f"({kinds}); {counts}."
            )
        unconnected = sum(visit.failed_connections for visit in timing.of(name))
        if unconnected:
            yield f"{counted(unconnected, 'connection')} to {name} failed."


def _in_words(kind: str) -> str:
    """``bad status 5xx in phase ttfb``, where the engine writes ``ttfb bad_status_5xx``."""
    phase, _, what = kind.partition(" ")
    return f"{what.replace('_', ' ')} in phase {phase}"


def _repeated(timing: Timing) -> list[str]:
    empty = {name: sum(v.empty_windows for v in timing.of(name)) for name in timing.subjects}
    return [
        f"No operation of {name} ended in {counted(count, 'window')}; "
        "they were repeated and are in no figure."
        for name, count in empty.items()
        if count
    ]


def _too_few(timing: Timing) -> list[str]:
    """Why a percentile of a server is missing."""
    visited = [name for name in timing.subjects if timing.of(name)]
    missing = {
        each.label: [name for name in visited if timing.median(name, each.name) is None]
        for each in timing.responses
    }
    return [
        f"No window of {listed(names)} held enough operations for the {label}, of which ten must "
        "lie above it: a longer --window does."
        for label, names in missing.items()
        if names and not any(map(timing.executions, names))
    ]
