"""Every caveat of a report by its weight: what may change the verdict before what bounds it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

from steelyard.judge.findings import RunFindings
from steelyard.judge.kinds import caveats as of_runs
from steelyard.judge.kinds import verdict_notes as of_verdicts
from steelyard.records.note import Note
from steelyard.report import notes
from steelyard.report.figures import counted
from steelyard.report.notes.verdict import WELCH_TEST
from steelyard.report.sentences.assumptions import missing_lines, reason_texts
from steelyard.report.sentences.differences import difference_lines
from steelyard.report.sentences.headline import distinct_name, leading_verdicts
from steelyard.report.sentences.verdict import reason_text
from steelyard.report.view import View, views
from steelyard.report.vocabulary import where_of

MOST_ON_TOP = 3
_NO_NEWS_FROM = 0.05


class Weight(IntEnum):
    """From what may change the verdict to what only says what was done."""

    GRAVE = 0
    QUALIFIES = 1
    BOUNDS = 2
    INFORMS = 3


TITLES = {
    Weight.GRAVE: "May change the verdict",
    Weight.QUALIFIES: "Qualify the verdict",
    Weight.BOUNDS: "How far the verdict reaches",
    Weight.INFORMS: "For information",
}


@dataclass(frozen=True)
class Caveat:
    """``told``: one of the lines on trust says it as well. ``brief`` is for the first screen.

    Of several of one ``kind`` the first screen has the first.
    """

    weight: Weight
    text: str
    told: bool = False
    brief: str = ""
    kind: str = ""

    @property
    def short(self) -> str:
        """What the first screen says."""
        return self.brief or self.text


_GRAVE = (
    of_runs.MachineMissing,
    of_runs.OrderNotRandom,
    of_runs.OrderRepeats,
    of_runs.SystemsLeftOut,
    of_runs.FailuresUnequal,
    of_runs.ManyFailures,
    of_runs.GeneratorBottleneck,
    of_runs.SeveralMachines,
    of_runs.SystemsNotSeen,
    of_runs.EngineRemoved,
    of_runs.SamplesDamaged,
    of_runs.BudgetNotDeclared,
    of_verdicts.AaControlDiffers,
    of_verdicts.TooManyInvalid,
    of_verdicts.CarryOverFound,
    of_verdicts.CarryOverDecides,
    of_verdicts.InterferenceUnequal,
    of_verdicts.InterferenceExplains,
    of_verdicts.EffectChanges,
    of_verdicts.StepsTooCoarse,
    of_verdicts.GeneratorSaturated,
    of_verdicts.FailedAttemptsDecide,
    of_verdicts.GuardrailsOpen,
    of_verdicts.InvalidUnequal,
    of_verdicts.VisitsDepend,
)
_BOUNDS = (
    of_runs.OneMachine,
    of_runs.ConditionsMeasured,
    of_runs.LevelsScreened,
    of_runs.ScreeningAssumptions,
    of_runs.TrialExtent,
    of_runs.NotReset,
    of_runs.GeneratorOnSameMachine,
    of_runs.ErrorRateByRandomisation,
    of_runs.JudgedOnce,
)
_INFORMS = (
    of_runs.CleanupVerified,
    of_runs.ChangedByOthers,
    of_runs.CleanupNotVerified,
    of_runs.WorkloadDecided,
    of_runs.AcceptedNotFound,
    of_runs.BlockUnfinished,
    of_verdicts.StoppedEarly,
)
_ON_TRUST = (
    of_runs.NeverSteady,
    of_runs.SteadyLater,
    of_runs.SteadinessUnknown,
    of_runs.WarnedTrials,
    of_runs.CalibrationExceeded,
    of_runs.GeneratorBottleneck,
    of_runs.ManyFailures,
    of_runs.FailuresUnequal,
    of_verdicts.InterferenceUnequal,
    of_verdicts.GeneratorSaturated,
)


def caveats(run: RunFindings) -> list[Caveat]:
    """All of them, the gravest first, each once."""
    found = [*_withheld(run), *(each for view in views(run) for each in _of_workload(view))]
    found += [_of_note(note, run) for note in run.caveats]
    found += [Caveat(Weight.QUALIFIES, line, told=True) for line in difference_lines(run)]
    return sorted(dict.fromkeys(found), key=lambda caveat: caveat.weight)


def on_top(found: list[Caveat]) -> list[Caveat]:
    """The few that stand beside the answer: the gravest of those that nothing there says yet."""
    news: dict[str, Caveat] = {}
    for each in found:
        if each.weight <= Weight.QUALIFIES and not each.told:
            news.setdefault(each.kind or each.text, each)
    return list(news.values())[:MOST_ON_TOP]


def weight_of(note: Note) -> Weight:
    """By its kind; what chance explains qualifies nothing."""
    if isinstance(note, of_verdicts.SpreadsDiffer):
        chance = note.chance is not None and note.chance >= _NO_NEWS_FROM
        return Weight.INFORMS if chance else Weight.QUALIFIES
    if isinstance(note, of_runs.CleanupIncomplete) and not note.pending:
        return Weight.INFORMS
    if isinstance(note, _GRAVE):
        return Weight.GRAVE
    if isinstance(note, _BOUNDS):
        return Weight.BOUNDS
    return Weight.INFORMS if isinstance(note, _INFORMS) else Weight.QUALIFIES


def _of_note(note: Note, run: RunFindings, heading: str | None = None) -> Caveat:
    before = "" if heading is None else f"{heading}: "
    text, brief = (f"{before}{of(note, run.labels)}." for of in (notes.text, notes.brief))
    told = isinstance(note, _ON_TRUST)
    return Caveat(weight_of(note), text, told, brief, note.kind)


def _withheld(run: RunFindings) -> Iterator[Caveat]:
    """Why rows of the answer are withheld; of a single comparison its sentence says so."""
    found = [(view, verdict) for view in views(run) for verdict in leading_verdicts(view)]
    for view, verdict in found if len(found) > 1 else ():
        if (note := verdict.withheld) is not None:
            place, name = where_of(verdict, view), distinct_name(verdict, view)
            text = f"{verdict.other} against {verdict.baseline}{place}: verdict withheld: "
            text = view.titled(f"{text}{reason_text(verdict, note)}.")
            brief = f"{name} withheld: {notes.brief(note, run.labels)}."
            yield Caveat(Weight.GRAVE, text, brief=brief, kind=f"withheld.{note.kind}")


def _of_workload(view: View) -> list[Caveat]:
    shared = _shared(view)
    found = [
        _of_note(note, view.run, None if note in shared else view.heading)
        for note in view.own.caveats
    ]
    found += [Caveat(Weight.GRAVE, view.titled(line)) for line in missing_lines(view)]
    withheld = [verdict.withheld for verdict in leading_verdicts(view)]
    rests_on_welch = False
    found_pairs = reason_texts(view)
    single = len({pair for _, pair, _, _ in found_pairs}) == 1
    for note, pair, text, places in found_pairs:
        told, where = isinstance(note, _ON_TRUST) or note in withheld, _places(places)
        whole = view.titled(f"{pair}, {where}: {text}.")
        place = f"{where[0].upper()}{where[1:]}" if single else f"{pair}, {where}"
        short = view.titled(f"{place}: {notes.brief(note, view.run.labels)}.")
        found.append(Caveat(weight_of(note), whole, told, short, note.kind))
        rests_on_welch = rests_on_welch or isinstance(note, of_verdicts.SpreadsDiffer)
    return found + ([Caveat(Weight.INFORMS, WELCH_TEST)] if rests_on_welch else [])


def _shared(view: View) -> list[Note]:
    """Caveats that all workloads have in common."""
    first, *others = (list(own.caveats) for own in view.run.workloads)
    return [note for note in first if all(note in each for each in others)]


def _places(places: list[str]) -> str:
    """A few by name, of many the first and their number."""
    few = places if len(places) <= 3 else [places[0], counted(len(places) - 1, "more condition")]
    return " and ".join(few) if len(few) == 2 else ", ".join(few)
