"""The answer as rows: values of the systems, the change, its interval, and what to draw beside."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

from steelyard.inference.sequential import VerdictWord
from steelyard.judge.findings import CellFinding, RunFindings, VerdictFinding
from steelyard.judge.machines.findings import MachinesFinding
from steelyard.judge.visits.attempts import key_of
from steelyard.report.effects import interval, signed_effect
from steelyard.report.figures import Scale, percent, quantity, scale_for, significant
from steelyard.report.sentences.assumptions import judged
from steelyard.report.sentences.evidence import signed_ends, signed_size
from steelyard.report.sentences.headline import badge_of, leading_verdicts
from steelyard.report.sentences.ranking import places_text
from steelyard.report.sentences.verdict import ends_of, interval_level, when_decided
from steelyard.report.tables.effect_rows import VERDICT, EffectRow, EffectRows, Mark, lean
from steelyard.report.tables.factor_effects import factor_rows
from steelyard.report.view import NONE, View, views
from steelyard.report.vocabulary import (
    compared_noun,
    good_and_bad,
    machines_in,
    met_by,
    noun_of,
    ordered,
    primary_response,
    response_of,
    said_word,
    where_of,
)
from steelyard.report.vocabulary import place as place_words
from steelyard.study.model import Level

ALL_CONDITIONS = "All conditions"
ALL_TRIALS = "All trials"
_HODGES_LEHMANN = (
    "Change: Hodges-Lehmann ratio of the visits, and not the ratio of the two medians beside it."
)


def effect_rows(run: RunFindings) -> list[EffectRows]:
    """By what the study compares: workloads, systems, or the conditions of one pair; then effects
    of its factors.
    """
    of_each = views(run)
    found = [workload_rows(run)] if len(of_each) > 1 else []
    if not found and len(_others(of_each[0])) > 1:
        found = [system_rows(of_each[0])]
    if not found:
        found = [condition_rows(of_each[0], other) for other in _others(of_each[0])]
    found += [factor_rows(each, view) for view in of_each for each in view.own.influence]
    return [table for each in found if each.rows and len((table := lean(each)).head) > 1]


def _others(view: View) -> list[str]:
    return list(dict.fromkeys(v.other for v in leading_verdicts(view)))


def condition_rows(view: View, other: str) -> EffectRows:
    """One pair of systems: a row for all conditions, then one for each."""
    own = [v for v in ordered(judged(view), view) if (v.baseline, v.other) == _pair(view, other)]
    cells, scale = _cells(view), _scale(view)
    response = primary_response(view)
    label = "" if response is None else response.label
    rows = []
    for verdict in own:
        conditions = _only_condition(verdict, view)
        values = [_median(cells, name, conditions, scale) for name in _pair(view, other)]
        several = len(own) > 1 or len(view.own.conditions) > 1
        first = _where(verdict, view) if several else ALL_TRIALS
        rows.append(EffectRow((first, *values, *_said(verdict, view)), _mark(verdict, view)))
    rows += _only_measured(view, other, own)
    rows += [_others_like_them(e, view) for e in view.own.machines if _is_whole(e, own)]
    unit = f", {scale.unit}" if scale.unit else ""
    return EffectRows(
        caption=f"{label}{unit} (median), and {_change(view)} {view.run.baseline}",
        head=(
            "Machine" if machines_in(view) else "Condition",
            *(view.run.baseline, other, "Change", "CI", VERDICT),
        ),
        rows=tuple(rows),
        direction=_direction([view]),
        minor=frozenset({4, 5}),
        numeric=frozenset({1, 2, 3, 4}),
        notes=(*_level_notes(own, view), *_size_note(own)),
    )


def _only_measured(view: View, other: str, own: Sequence[VerdictFinding]) -> list[EffectRow]:
    """The medians of each of several conditions where nothing at all is judged."""
    several = len(view.own.conditions) > 1
    if not several or any(v.conditions or v.word is not VerdictWord.NOT_JUDGED for v in own):
        return []
    cells, scale = _cells(view), _scale(view)
    return [
        EffectRow(
            (
                view.run.labels.conditions(each),
                *(_median(cells, name, each, scale) for name in _pair(view, other)),
                *(NONE, NONE, badge_of(verdict, view)),
            ),
            _nothing(view, other),
        )
        for verdict in own
        for each in view.own.conditions
    ]


def _change(view: View) -> str:
    """What the column of changes holds, before the name of the baseline."""
    response = primary_response(view)
    if response is None or compared_noun(response) == noun_of(response):
        return "change relative to"
    return f"change of the {compared_noun(response)} relative to"


def _where(verdict: VerdictFinding, view: View) -> str:
    if machines_in(view):
        found = where_of(verdict, view).strip()
        return f"{found[:1].upper()}{found[1:]}"
    if only := _only_condition(verdict, view):
        return view.run.labels.conditions(only)
    met = len(met_by(view, (verdict.baseline, verdict.other)))
    return ALL_CONDITIONS if met == len(view.own.conditions) else f"Their {met} common conditions"


def _is_whole(found: MachinesFinding, own: Sequence[VerdictFinding]) -> bool:
    """Whether it stands beside one of these verdicts, over all conditions."""
    whole = [(v.response, v.baseline, v.other) for v in own if v.conditions is None]
    return found.conditions is None and (found.response, found.baseline, found.other) in whole


def _others_like_them(found: MachinesFinding, view: View) -> EffectRow:
    others, place = found.others, _place(view, found.other)
    name = "On others like them"
    if others is None:
        said = f"not said below {found.least_machines} machines"
        mark = Mark(None, None, None, found.margin_log, False, False, place)
        return EffectRow((name, NONE, NONE, NONE, NONE, said), mark)
    alike = others.word is VerdictWord.EQUIVALENT
    low = others.equivalence_low_log if alike else others.low_log
    high = others.equivalence_high_log if alike else others.high_log
    size = signed_effect(others.mean_log, beside=(low, high))
    ends = interval(low, high, estimate_log=others.mean_log, direction=None)
    word = said_word(others.word, others.mean_log, response_of(view, found.response))
    decided = others.word is not VerdictWord.UNDECIDED
    mark = Mark(others.mean_log, low, high, found.margin_log, decided, False, place)
    return EffectRow((name, NONE, NONE, size, ends, word), mark)


def system_rows(view: View) -> EffectRows:
    """Three systems and more: one row each, the best first where they are ranked."""
    found = {v.other: v for v in leading_verdicts(view) if v.conditions is None or _alone(view)}
    ranking = next((r for r in view.own.rankings if r.conditions is None), None)
    ranking = ranking or next(iter(view.own.rankings), None)
    places = {} if ranking is None else {p.system: places_text(p) for p in ranking.places}
    order = [name for name in places if name in view.run.systems] or list(view.run.systems)
    cells, scale = _cells(view), _scale(view)
    response = primary_response(view)
    label = "" if response is None else response.label
    rows = []
    for name in order:
        conditions = view.own.conditions[0] if _alone(view) else None
        value = _median(cells, name, conditions, scale)
        place = places.get(name, NONE)
        if name == view.run.baseline:
            cell = (f"{name} (baseline)", value, NONE, NONE, place, NONE)
            rows.append(EffectRow(cell, _nothing(view, name)))
        elif name in found:
            change, ends, word = _said(found[name], view)
            cell = (name, value, change, ends, place, word)
            rows.append(EffectRow(cell, _mark(found[name], view)))
    unit = f", {scale.unit}" if scale.unit else ""
    where = "" if _alone(view) else f",{place_words(None, view)}"
    return EffectRows(
        caption=f"{label}{unit}, and {_change(view)} {view.run.baseline}{where}",
        head=("System", "Median", "Change", "CI", "Rank", VERDICT),
        rows=tuple(rows),
        direction=_direction([view]),
        minor=frozenset({3}),
        numeric=frozenset({1, 2, 3}),
        notes=(*_level_notes(list(found.values()), view), *_size_note(found.values())),
    )


def workload_rows(run: RunFindings) -> EffectRows:
    """Several workloads: one row each (of every system), by verdict."""
    rows = [row for view in views(run) for row in _rows_of_workload(view)]
    order = list(dict.fromkeys(row.group for row in rows))
    several = len({v.other for view in views(run) for v in leading_verdicts(view)}) > 1
    first = ("Workload", "System") if several else ("Workload",)
    head = (*first, run.baseline, "Other" if several else _only_other(run), "Change", "CI")
    kept = [row if several else _without_system(row) for row in rows]
    found = [v for view in views(run) for v in leading_verdicts(view)]
    return EffectRows(
        caption=f"Primary response of each workload, and change relative to {run.baseline}",
        head=head,
        rows=tuple(sorted(kept, key=lambda row: order.index(row.group))),
        direction=_direction(views(run)),
        minor=frozenset({len(head) - 1}),
        numeric=frozenset(range(len(first), len(head))),
        notes=(*_level_notes(found, views(run)[0]), *_size_note(found)),
    )


def _rows_of_workload(view: View) -> Iterator[EffectRow]:
    cells = _cells(view)
    for verdict in leading_verdicts(view):
        conditions = _only_condition(verdict, view)
        where = view.run.labels.conditions(verdict.conditions) if verdict.conditions else ""
        values = (
            _median(cells, name, conditions, None, view)
            for name in (verdict.baseline, verdict.other)
        )
        noun = noun_of(response_of(view, verdict.response))
        name = where or f"{view.own.name}: {noun}"
        change, ends, word = _said(verdict, view)
        texts = (name, verdict.other, *values, change, ends)
        yield EffectRow(texts, _mark(verdict, view), word, f"workload-{view.own.name}")


def _without_system(row: EffectRow) -> EffectRow:
    return EffectRow((row.cells[0], *row.cells[2:]), row.mark, row.group, row.anchor)


def _only_other(run: RunFindings) -> str:
    return next((v.other for view in views(run) for v in leading_verdicts(view)), "")


def _pair(view: View, other: str) -> tuple[str, str]:
    return view.run.baseline, other


def _alone(view: View) -> bool:
    return len(view.own.conditions) == 1


def _only_condition(verdict: VerdictFinding, view: View) -> dict[str, Level] | None:
    """The condition of a verdict; over all of them the only one that both systems can meet."""
    met = met_by(view, (verdict.baseline, verdict.other))
    return verdict.conditions or (met[0] if len(met) == 1 else None)


def _cells(view: View) -> dict[tuple[str, object], CellFinding]:
    response = primary_response(view)
    name = None if response is None else response.name
    return {
        (c.cell.system, key_of(c.cell.conditions)): c for c in view.own.cells if c.response == name
    }


def _scale(view: View) -> Scale:
    response = primary_response(view)
    values = [c.median for c in _cells(view).values() if c.median is not None]
    return scale_for(values, "" if response is None else response.unit)


def _median(
    cells: dict[tuple[str, object], CellFinding],
    system: str,
    conditions: dict[str, Level] | None,
    scale: Scale | None,
    view: View | None = None,
) -> str:
    """In the scale of the column, or with its own unit without one."""
    found = None if conditions is None else cells.get((system, key_of(conditions)))
    if found is None or found.median is None:
        return NONE
    if scale is not None:
        return significant(found.median / scale.divisor)
    response = None if view is None else primary_response(view)
    return quantity(found.median, "" if response is None else response.unit)


def _said(verdict: VerdictFinding, view: View) -> tuple[str, str, str]:
    shown, word = when_decided(verdict), badge_of(verdict, view)
    if shown.estimate_log is None:
        return NONE, NONE, word
    return signed_size(shown), signed_ends(shown), word


def _mark(verdict: VerdictFinding, view: View) -> Mark:
    shown = when_decided(verdict)
    low, high = ends_of(shown)
    decided = verdict.word not in (VerdictWord.UNDECIDED, VerdictWord.NOT_JUDGED)
    place = _place(view, verdict.other)
    whole = verdict.conditions is None
    return Mark(shown.estimate_log, low, high, verdict.margin_log, decided, whole, place)


def _nothing(view: View, system: str) -> Mark:
    margins = [v.margin_log for v in judged(view)]
    return Mark(None, None, None, max(margins, default=0.0), False, False, _place(view, system))


def _place(view: View, system: str) -> int:
    return view.run.systems.index(system) if system in view.run.systems else 0


def _direction(of_each: Sequence[View]) -> tuple[str, str]:
    """What lies to the left and to the right of nothing."""
    found = [r for view in of_each if (r := primary_response(view)) is not None]
    directions = {r.direction for r in found}
    words = {good_and_bad(r) for r in found}
    if len(directions) != 1 or directions == {"none"}:
        return "less", "more"
    good, bad = words.pop() if len(words) == 1 else ("better", "worse")
    return (bad, good) if directions == {"higher"} else (good, bad)


def _size_note(found: Iterable[VerdictFinding]) -> tuple[str, ...]:
    return (_HODGES_LEHMANN,) if any(v.estimate_log is not None for v in found) else ()


def _level_notes(found: Sequence[VerdictFinding], view: View) -> list[str]:
    """Which level the intervals have, where rows differ in it."""
    known = [v for v in found if v.word is not VerdictWord.NOT_JUDGED]
    whole = {percent(interval_level(v)) for v in known if v.conditions is None}
    parts = [interval_level(v) for v in known if v.conditions is not None]
    levels = sorted(set(map(percent, parts)))
    said = []
    if whole:
        alone = all(_only_condition(v, view) for v in known if v.conditions is None)
        several = bool(levels) or (len(view.own.conditions) > 1 and not alone)
        where = " over all conditions" if several else ""
        where = " on all of these machines" if machines_in(view) else where
        said.append(f"CI {' or '.join(sorted(whole))}{where}")
    if levels:
        together = 1 - math.fsum(1 - level for level in parts)
        so = f", so that all hold together at {percent(together)}" if len(parts) > 1 else ""
        said.append(f"{' or '.join(levels)} at each{so}")
    return [f"{'; '.join(said)}."] if said else []
