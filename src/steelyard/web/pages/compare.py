"""Any two runs side by side, in one effect plot. No test is made between them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from steelyard.history.point import ComparisonPoint, RunPoint
from steelyard.history.series import changes_between
from steelyard.report.compare import NO_TEST, contradict
from steelyard.report.effects import interval, signed_effect
from steelyard.report.page.marks import axis_drawing, axis_of, row_drawing
from steelyard.report.tables.effect_rows import Mark
from steelyard.report.vocabulary import said_word
from steelyard.web.index import Index
from steelyard.web.machines import machine_lines
from steelyard.web.making import Refused
from steelyard.web.pages.render import refusal, shown
from steelyard.web.pages.run import AGAIN_S, WAIT_S

_OPEN = {"undecided", "not_judged"}


async def compare(request: Request) -> Response:
    """``?a=STUDY/RUN&b=STUDY/RUN``; without both, a form that asks for them."""
    index: Index = request.app.state.index
    listing = await run_in_threadpool(index.listing)
    keys = [request.query_params.get(name, "") for name in ("a", "b")]
    runs = [listing.runs.get(key) for key in keys]
    unknown = [key for key, run in zip(keys, runs, strict=True) if key and run is None]
    if unknown:
        return refusal(request, 404, f"There is no run {unknown[0]} here.")
    known = [run for run in runs if run is not None]
    choices = list(listing.runs)
    values: dict[str, Any] = {"title": "Two runs", "choices": choices[:2000], "keys": keys}
    if len(known) < 2:
        return shown(request, "compare.html.j2", {"runs": keys, "note": NO_TEST, "pairs": []},
                     ready=None, again_s=None, **values)  # fmt: skip
    points = await request.app.state.worker.points([run.path for run in known], WAIT_S)
    for point in points:
        if isinstance(point, Refused):
            return refusal(request, 422, point.message, point.hint)
    both = [point for point in points if isinstance(point, RunPoint)]
    if len(both) < 2:
        document = {"status": "being_made", "runs": keys}
        return shown(request, "compare.html.j2", document, status=202, ready=None,
                     again_s=AGAIN_S, **values)  # fmt: skip
    found = side_by_side(*both)
    return shown(request, "compare.html.j2", found.document, ready=found, again_s=None, **values)


@dataclass(frozen=True)
class SideBySide:
    """``rows`` are those of the plot, two for each comparison; ``document`` the same as data."""

    document: dict[str, Any]
    rows: list[dict[str, Any]]
    axis: Markup
    differ: list[str]


def side_by_side(a: RunPoint, b: RunPoint) -> SideBySide:
    """All comparisons of a primary response that either run has."""
    pairs = [(key, a.comparison(key), b.comparison(key)) for key in _keys(a, b)]
    marks = [_mark(each, place) for _, *of in pairs for place, each in enumerate(of) if each]
    axis = axis_of(marks)
    rows: list[dict[str, Any]] = []
    for _, *of in pairs:
        known = [each for each in of if each is not None]
        against = len(known) == 2 and contradict(*((each.words, each.word) for each in known))
        for place, (run, each) in enumerate(zip((a, b), of, strict=True)):
            cells = _cells(each)
            drawing = None if each is None else row_drawing(_mark(each, place), axis, cells[0])
            rows.append({"title": known[0].title, "run": run.run, "cells": cells, "place": place,
                         "drawing": drawing, "contradiction": against})  # fmt: skip
    responses = {each.response.label: each.response for _, *of in pairs for each in of if each}
    sides = _sides([each.direction for each in responses.values()])
    differ = list(_differ(a, b))
    document = {
        "runs": [_run(a), _run(b)],
        "note": NO_TEST,
        "differ": differ,
        "pairs": [
            {"comparison": key, "a": _data(first), "b": _data(second),
             "contradiction": first is not None and second is not None
             and contradict((first.words, first.word), (second.words, second.word))}
            for key, first, second in pairs
        ],
    }  # fmt: skip
    return SideBySide(document, rows, axis_drawing(axis, sides), differ)


def _keys(a: RunPoint, b: RunPoint) -> list[str]:
    return list(dict.fromkeys(each.key for run in (a, b) for each in run.comparisons))


def _mark(each: ComparisonPoint, place: int) -> Mark:
    decided = each.word.value not in _OPEN
    return Mark(each.estimate_log, each.low_log, each.high_log, each.margin_log, decided,
                whole=each.where is None, system=place)  # fmt: skip


def _sides(directions: list[str]) -> tuple[str, str]:
    """What left and right mean, where all responses agree on it."""
    if directions and all(each == "higher" for each in directions):
        return "worse", "better"
    if directions and all(each == "lower" for each in directions):
        return "better", "worse"
    return "less", "more"


def _cells(each: ComparisonPoint | None) -> tuple[str, str, str, str]:
    """Verdict, change, interval, visits."""
    if each is None:
        return "not in this run", "–", "–", "–"
    said = said_word(each.word, each.estimate_log, each.response)
    if each.estimate_log is None:
        return said, "–", "–", str(each.visits)
    ends = each.low_log, each.high_log
    between = interval(*ends, estimate_log=each.estimate_log, direction=None,
                       exact_to=(each.margin_log, -each.margin_log))  # fmt: skip
    return said, signed_effect(each.estimate_log, beside=ends), between, str(each.visits)


def _differ(a: RunPoint, b: RunPoint) -> Iterator[str]:
    """What is not the same of both runs besides the day."""
    facts = (
        ("study", a.study, b.study),
        ("study file (sha256)", a.study_sha256[:12], b.study_sha256[:12]),
        ("variant", a.variant or "none", b.variant or "none"),
        ("steelyard", a.tool_version, b.tool_version),
        ("compared systems", ", ".join(a.systems), ", ".join(b.systems)),
    )
    for name, one, other in facts:
        if one != other:
            yield f"{name}: {one or 'not recorded'} and {other or 'not recorded'}"
    yield from machine_lines(a, b)
    yield from map(change_text, changes_between(a, b))
    first, second = a.differing_facts, b.differing_facts
    changed = [
        fact for fact in dict.fromkeys([*first, *second]) if first.get(fact) != second.get(fact)
    ]
    if changed:
        yield f"facts that differ between what is compared: {', '.join(changed)}"


def change_text(change: Any) -> str:
    """``https: service.version 1.24 and 1.26``."""
    values = " and ".join(", ".join(each or ("not recorded",)) for each in
                          (change.before, change.after))  # fmt: skip
    return f"{change.system}: {change.fact} {values}"


def _run(run: RunPoint) -> dict[str, Any]:
    return run.model_dump(mode="json", exclude={"comparisons"})


def _data(each: ComparisonPoint | None) -> dict[str, Any] | None:
    return None if each is None else each.model_dump(mode="json")
