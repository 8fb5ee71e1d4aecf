"""The verdicts so far, one row for each comparison of a primary response."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from steelyard.judge.findings import ResponseFinding
from steelyard.judge.stopping.interim import InterimWord
from steelyard.report.sentences.terminal.interim import place_of, size_texts
from steelyard.report.view import NONE, Table
from steelyard.report.vocabulary import said_word
from steelyard.study.labels import Labels


def interim_table(
    words: Sequence[InterimWord], responses: Mapping[str | None, ResponseFinding], labels: Labels
) -> Table:
    """In the order of the study. ``responses`` are the primary ones by workload."""
    head = ("Comparison", "So far", "Change", "Interval", "Visits")
    rows = tuple(_row(each, words, responses[each.workload], labels) for each in words)
    return Table("Verdicts so far", head, rows, frozenset({2, 4}))


def _row(
    each: InterimWord, words: Sequence[InterimWord], response: ResponseFinding, labels: Labels
) -> tuple[str, ...]:
    log = None if each.size is None else each.size.estimate_log
    return (
        place_of(each, words, labels),
        "withheld" if each.withheld else said_word(each.word, log, response),
        *(size_texts(each) or (NONE, NONE)),
        str(each.n_baseline + each.n_other),
    )
