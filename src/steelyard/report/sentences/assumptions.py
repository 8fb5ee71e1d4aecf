"""How sure a verdict is: the unit, the error rate, its assumptions, what went wrong."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from steelyard.inference.sequential import VerdictWord
from steelyard.judge.analyses.steadiness.findings import Steadiness
from steelyard.judge.comparisons.families import Family
from steelyard.judge.findings import AttemptFinding, RunFindings, VerdictFinding
from steelyard.judge.kinds.verdict_notes import (
    OneConstant,
    SpreadsDiffer,
    StallsDiffer,
    VerdictNote,
)
from steelyard.judge.visits.pairs import MACHINE
from steelyard.records.archive import OF_MACHINES
from steelyard.records.message_text import commonest
from steelyard.records.note import Note
from steelyard.records.warnings import Resource
from steelyard.report import notes
from steelyard.report.figures import counted, listed, percent, significant
from steelyard.report.notes.verdict import WELCH_TEST
from steelyard.report.notes.warnings import RESOURCES, kind_text
from steelyard.report.sentences.differences import difference_lines
from steelyard.report.sentences.influence_sure import influence_sure_lines
from steelyard.report.sentences.terminal.resolution import (
    covariate_lines,
    length_lines,
    resolution_lines,
)
from steelyard.report.sentences.trade_offs import guardrail_lines
from steelyard.report.sentences.verdict import reason_text
from steelyard.report.view import View, lines, views
from steelyard.report.vocabulary import (
    compared_all,
    family_text,
    met_by,
    primary_response,
    where_of,
)
from steelyard.study.model import Level
from steelyard.units import format_duration

OK = "ok"
DAMAGED = "damaged"
MANY_PAIRS = 3
_ASSUMPTION = (
    "The error rate holds for {compared} that differ by a constant ratio only, under any noise "
    "that affects them alike, given random assignment as recorded and no carry-over from one "
    "visit to the next; at unequal spreads the Welch test holds it. Noise that lasts over several "
    "visits and affects one of them alone may be reported as a difference."
)
_UNSTEADY = (Steadiness.NEVER, Steadiness.STEADY_LATER)
_HODGES_LEHMANN = "Hodges-Lehmann ratio"
_EARLY = "early stops overstate small effects"

STOP_WORDS = {
    "decided": "the verdict was reached",
    "budget_visits": "the budget of visits ended",
    "budget_time": "the budget of time ended",
    "interrupted": "it was interrupted",
    "failures": "nothing was left to compare",
    "error": "an error ended it",
    "open": "no end of it is recorded",
    "imported": "all that was imported was judged",
}
_DECIDED_TOGETHER = "the verdict on all of these machines was reached"


def _assumptions(view: View) -> list[str]:
    """What the error rate rests on; nothing for an order that was not drawn at random."""
    if view.run.design == "none":
        return []
    return [_ASSUMPTION.format(compared=compared_all(view.run))]


def _estimand(view: View) -> str:
    if view.run.design == "none":  # judged once, so that no stop was early
        return _HODGES_LEHMANN
    return f"{_HODGES_LEHMANN}; {_EARLY}"


def judged(view: View) -> list[VerdictFinding]:
    """The comparisons that carry the guarantee."""
    primary = primary_response(view)
    name = primary.name if primary else None
    return [v for v in view.own.verdicts if v.response == name and not v.exploratory]


def sure_lines(view: View) -> list[str]:
    """What every verdict of the primary response rests on, one sentence each."""
    return [_stop_line(view), *resting_lines(view)]


def resting_lines(view: View, seed_noun: str = "order seed") -> list[str]:
    """All of them but why the study ended."""
    lines = []
    for family, alpha, comparisons in _families(view):
        count = counted(comparisons, "comparison")
        lines.append(f"Error rate {percent(alpha)} for {family_text(family)} ({count}).")
    lines += influence_sure_lines(view)
    if not judged(view):
        return lines
    lines.append(f"Unit of inference: the visit, {_arms_words(view)}; {seed_noun} {view.run.seed}.")
    lines += _span_lines(view)
    lines.append(f"Estimate: {_estimand(view)}.")
    lines += _assumptions(view)
    if view.own.aa_control is not None:
        lines.append(_aa_control(view.own.aa_control))
    lines += guardrail_lines(judged(view)) + _spread_lines(view) + _memory_lines(view)
    lines += resolution_lines(view.own.resolution) + covariate_lines(view.own.covariates)
    steady = not any(each.state in _UNSTEADY for each in view.own.steadiness)
    return lines + length_lines(view.own.lengths, steady=steady)


def _span_lines(view: View) -> list[str]:
    """The time that the verdicts are of, by the longest."""
    spans = [found.span_s for found in judged(view) if found.span_s]
    if not spans:
        return []
    time = format_duration(max(spans))
    return [f"These visits lie within {time}; the verdicts are about that time."]


def _aa_control(found: VerdictFinding) -> str:
    """The result of the baseline against itself."""
    control = f"A/A control ({found.baseline} against {found.other})"
    if found.word is VerdictWord.EQUIVALENT:
        return f"{control}: no difference above the margin."
    if found.word in {VerdictWord.FASTER, VerdictWord.SLOWER} or found.withheld:
        return f"{control}: the baseline differs from itself, so nothing is decided."
    return f"{control}: no difference was found."


def _stop_line(view: View) -> str:
    stop = view.run.stop
    if stop.reason == "imported":
        visits = counted(stop.visits_done, "visit")
        return f"One look, after {visits} ({counted(stop.trials_done, 'trial')})."
    before = "" if stop.extended_from is None else f", extended once from {stop.extended_from}"
    left_out = stop.visits_planned - stop.visits_done
    details = [f"{left_out} left out"] if stop.reason == "budget_visits" and left_out else []
    if stop.visits_assumed is not None:
        details.append(f"{stop.visits_assumed} planned before the first were timed")
    details += [counted(stop.trials_done, "trial"), format_duration(stop.spent_s)]
    planned = counted(stop.visits_planned, unit_of_stop(view.run))
    return (
        f"After {stop.visits_done} of at most {planned}{before} "
        f"({', '.join(details)}) {_why_it_ended(view.run)}."
    )


def unit_of_stop(run: RunFindings) -> str:
    """``replicate`` where that is what each visit is, of a screening; else ``visit``."""
    planned = {each.replicates_planned for view in views(run) for each in view.own.influence}
    return "replicate" if planned == {run.stop.visits_planned} else "visit"


def _why_it_ended(run: RunFindings) -> str:
    return _DECIDED_TOGETHER if decided_together(run) else stop_words_of(run)


def stop_words_of(run: RunFindings) -> str:
    """What ended it; the budget of a screening is one of replicates."""
    return STOP_WORDS[run.stop.reason].replace("visit", unit_of_stop(run))


def decided_together(run: RunFindings) -> bool:
    """Whether this is one of several machines that ended by the verdict on all of them, without one
    of its own.
    """
    if run.stop.reason != "decided" or f"/{OF_MACHINES}/" not in run.run:
        return False
    return any(v.word is VerdictWord.UNDECIDED for view in views(run) for v in judged(view))


def _families(view: View) -> list[tuple[Family, float, int]]:
    counts = Counter((v.family, v.alpha) for v in judged(view))
    return [(family, alpha, count) for (family, alpha), count in counts.items()]


def _arms_words(view: View) -> str:
    on: dict[Level | None, dict[str, int]] = defaultdict(dict)
    for verdict in judged(view):
        arms = on[(verdict.conditions or {}).get(MACHINE)]
        arms[verdict.baseline] = max(arms.get(verdict.baseline, 0), verdict.n_baseline)
        arms[verdict.other] = max(arms.get(verdict.other, 0), verdict.n_other)
    if len(on) > 1:  # that on all machines counts no more of one than of the others
        on.pop(None, None)
    counts: dict[str, int] = {}
    for system, n in (row for arms in on.values() for row in arms.items()):
        counts[system] = counts.get(system, 0) + n
    return listed([f"{n} of {system}" for system, n in counts.items()]) or "none yet"


def _spread_lines(view: View) -> list[str]:
    """How alike the arms are beside their ratio: the guarantee assumes that they are."""
    pairs: dict[tuple[str, str], list[str]] = {}
    for verdict in judged(view):
        if verdict.spread_ratio is not None:
            where = _where(verdict, view)
            said = f"{significant(verdict.spread_ratio, 2)} times {where}{_stalls(verdict)}"
            pairs.setdefault((verdict.other, verdict.baseline), []).append(said)
    alike = [v for v in judged(view) if not _unlike(v) and not _stalls(v)]
    if len(pairs) >= MANY_PAIRS and len(alike) == len(judged(view)):
        ratios = [v.spread_ratio for v in alike if v.spread_ratio is not None]
        ends = f"{significant(min(ratios), 2)} to {significant(max(ratios), 2)}"
        return [
            f"Spread of one system relative to another: {ends} times in all {len(pairs)} pairs."
        ]
    return [
        f"Spread of {other} relative to {baseline}: {', '.join(said)}."
        for (other, baseline), said in pairs.items()
    ]


def _memory_lines(view: View) -> list[str]:
    """Whether visits of one system alone depend on each other: the guarantee cannot see that."""
    asked = [v for v in judged(view) if v.memory_chance is not None]
    if not asked:
        return []
    least = min(asked, key=lambda verdict: verdict.memory_chance or 0.0)
    where = "" if len(asked) == 1 else f", the least of {len(asked)} verdicts"
    chance = significant(least.memory_chance or 0.0, 2)
    return [f"Dependence between the visits of one system alone: p = {chance}{where}."]


def _where(verdict: VerdictFinding, view: View) -> str:
    if MACHINE in (verdict.conditions or {}):
        return where_of(verdict, view).strip()
    where = view.run.labels.conditions(verdict.conditions or {})
    return f"at {where}" if where else "overall"


def _unlike(verdict: VerdictFinding) -> bool:
    """Whether the arms differ in more than a ratio."""
    return any(
        isinstance(each, SpreadsDiffer | OneConstant | StallsDiffer) for each in verdict.notes
    )


def _stalls(verdict: VerdictFinding) -> str:
    """The share of visits that stalled, where any did."""
    if not verdict.stall_rate_baseline and not verdict.stall_rate_other:
        return ""
    shares = (verdict.stall_rate_other, verdict.stall_rate_baseline)
    texts = ["not known" if share is None else percent(share) for share in shares]
    return f" (stalled visits {' against '.join(texts)})"


def caveat_lines(run: RunFindings) -> list[str]:
    """What was not tested and what the error rate rests on."""

    def of(caveats: Sequence[Note]) -> list[str]:
        return [f"{notes.text(each, run.labels)}." for each in caveats]

    return [*lines(run, lambda view: of(view.own.caveats)), *of(run.caveats)]


def check_lines(run: RunFindings) -> list[str]:
    """What a reader may check of the study itself."""
    return lines(
        run, lambda view: [f"{notes.text(each, run.labels)}." for each in view.own.diagnostics]
    )


def warning_lines(view: View) -> list[str]:
    """All that a reader must know before relying on the answer."""
    return [
        *failure_lines(view),
        *note_lines(view),
        *difference_lines(view.run),
    ]


def note_lines(view: View) -> list[str]:
    """The notes of the judge, each once for all comparisons that share it.

    The limits of the Welch test follow once, where an error rate rests on it. Why a comparison
    was not judged, or a verdict over all conditions withheld, is in its sentence.
    """
    found = reason_texts(view)
    lines = [f"{pair}, {listed(places)}: {text}." for _, pair, text, places in found]
    rests_on_welch = any(isinstance(note, SpreadsDiffer) for note, *_ in found)
    return [*lines, WELCH_TEST] if rests_on_welch else lines


def reason_texts(view: View) -> list[tuple[VerdictNote, str, str, list[str]]]:
    """Each note with the compared pair, its text, and the places that share both."""
    found: dict[tuple[str, str], tuple[VerdictNote, list[str]]] = {}
    for verdict in judged(view):
        for note in _notes(verdict):
            key = (f"{verdict.other} against {verdict.baseline}", reason_text(verdict, note))
            found.setdefault(key, (note, []))[1].append(_where(verdict, view))
    return [(note, pair, text, places) for (pair, text), (note, places) in found.items()]


def _notes(verdict: VerdictFinding) -> tuple[VerdictNote, ...]:
    if verdict.withheld and verdict.conditions is not None:
        return (verdict.withheld, *verdict.notes)
    return verdict.notes


def failure_lines(view: View) -> list[str]:
    """How many attempts failed of which kind, and where; how many have which warning."""
    attempts = view.attempts
    lines = failed_attempt_lines(view)
    suspect = [a for a in attempts if a.outcome == OK and a.warnings]
    if suspect:
        good = sum(a.outcome == OK for a in attempts)
        kinds = Counter(kind for a in suspect for kind in dict.fromkeys(w.kind for w in a.warnings))
        lines.append(
            f"{len(suspect)} of {counted(good, 'attempt')} that counted had warnings: "
            + "; ".join(f"{kind_text(kind)} ({count})" for kind, count in kinds.most_common())
            + "."
        )
    return lines + missing_lines(view)


def failed_attempt_lines(view: View) -> list[str]:
    """How many attempts failed of which kind, and where; before them damage to disks."""
    failed = [a for a in view.attempts if a.outcome != OK]
    of = counted(len(view.attempts), "attempt")
    said = [f"{len(failed)} of {of} failed: {'; '.join(_kinds(failed))}."] if failed else []
    return [*_damaged_while_up(view), *said]


def _damaged_while_up(view: View) -> list[str]:
    """Damage that belongs to no trial, found when a system was taken down at the end."""
    return [
        f"Disk {disk.disk} of {each.system} ({disk.device}), checked when it was taken down: "
        f"{'; '.join(notes.texts(disk.damage, view.run.labels))}."
        for each in view.run.disks
        for disk in each.damaged
        if disk.trial is None
    ]


def _kinds(failed: Sequence[AttemptFinding]) -> list[str]:
    """How often what happened to which system, with what most of them say.

    Damage comes first, then the commonest; systems of which the same is said stand together.
    """
    messages: dict[tuple[str, str], list[str]] = defaultdict(list)
    for attempt in failed:
        messages[attempt.outcome, attempt.cell.system].append(attempt.message or "")
    alike: dict[tuple[str, str], dict[str, int]] = defaultdict(dict)
    for (outcome, system), said in messages.items():
        alike[outcome, (commonest(said) or "").rstrip(".")][system] = len(said)
    return [
        f"{sum(counts.values())} {outcome.replace('_', ' ')} ({_of_each(counts)})"
        + (f": {said}" if said else "")
        for (outcome, said), counts in sorted(
            alike.items(), key=lambda each: (each[0][0] != DAMAGED, -sum(each[1].values()))
        )
    ]


def _of_each(counts: Mapping[str, int]) -> str:
    if len(counts) == 1:
        return next(iter(counts))
    return ", ".join(f"{count} of {system}" for system, count in counts.items())


def missing_lines(view: View) -> list[str]:
    """The cells of the primary response without a single value."""
    primary = primary_response(view)
    empty = [
        view.run.labels.place(c.cell.system, c.cell.conditions)
        for c in view.own.cells
        if not c.values and primary is not None and c.response == primary.name
    ]
    if not empty or primary is None:
        return []
    return [f"Not measured: {primary.label} of {listed(empty)}."]


def bottleneck_rows(view: View) -> list[tuple[str, str, str]]:
    """The bottlenecks of the trials of each cell: system, conditions, resources with n."""
    rows = []
    for system, conditions, trials in _bottlenecks(view):
        none = f"none named in {len(trials)}" if trials else "not measured"
        named = Counter(resource for resource in trials if resource is not None)
        told = (
            f"{RESOURCES[resource]} in {n} of {len(trials)}" for resource, n in named.most_common()
        )
        rows.append((system, conditions, "; ".join(told) or none))
    return rows if any(a.bottleneck for a in view.attempts) else []


def _bottlenecks(view: View) -> list[tuple[str, str, Sequence[Resource | None]]]:
    cells: dict[tuple[str, str], list[Resource | None]] = {}
    order = [
        (s, view.run.labels.conditions(c))
        for c in view.own.conditions
        for s in view.run.systems
        if c in met_by(view, (s,))
    ]
    cells.update((key, []) for key in order)
    for attempt in view.attempts:
        if attempt.outcome == OK:
            key = (attempt.cell.system, view.run.labels.conditions(attempt.cell.conditions))
            found = attempt.bottleneck
            cells.setdefault(key, []).append(None if found is None else found.kind)
    return [(*key, cells[key]) for key in order]
