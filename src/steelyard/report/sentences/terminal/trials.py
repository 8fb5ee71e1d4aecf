"""What ``steelyard judge`` prints: the sentences of a report on trials measured elsewhere."""

from __future__ import annotations

from steelyard import __version__
from steelyard.inference.sequential import VerdictWord
from steelyard.judge.findings import RunFindings, StopFinding, WorkloadFindings
from steelyard.judge.own_trials.verdicts import TrialsVerdict
from steelyard.judge.own_trials.visits import LOAD
from steelyard.judge.visits.pairs import MACHINE
from steelyard.report.figures import counted
from steelyard.report.sentences.assumptions import caveat_lines, note_lines, resting_lines
from steelyard.report.sentences.machines import machines_lines, resting_on_machines
from steelyard.report.sentences.terminal.answer import answer
from steelyard.report.view import View
from steelyard.study.model import Level

_ORDERS = {
    "bigstick": "random assignment, big-stick design, tolerance 2",
    "pairs": "random assignment within each pair",
    "blocks": "random order within each block",
    "none": "not random",
}


def trials_lines(found: TrialsVerdict, title: str | None = None) -> list[str]:
    """The answer, how sure it is, and what to know before using it, below the response's name."""
    title = title or found.response.name
    view = view_of(found, title)
    lines = [title, ""]
    for main, parts in answer(view):
        lines += [str(main), *(f"  {part}" for part in parts)]
    for each in found.machines:
        lines += ["", *machines_lines(each, view)]
    lines += ["", "How sure:", f"  {_looks(found)}"]
    rest = resting_lines(view, "seed of the simulated orders")
    beside = ["The covariate was regressed out."] if found.beside_covariate else []
    order = f"Order{_on_each(found)}: {_ORDERS[found.design]}."
    several = resting_on_machines(found.machines)
    lines += [f"  {line}" for line in (order, *beside, *rest, *several)]
    notes = [*caveat_lines(view.run), *note_lines(view)]
    if notes:
        lines += ["", "Before relying on this:", *(f"  {note}" for note in notes)]
    return lines


def view_of(found: TrialsVerdict, title: str) -> View:
    """The verdicts as those of a run without a study, so that sentences need no second form."""
    decided = all(verdict.word is not VerdictWord.UNDECIDED for verdict in found.verdicts)
    own = WorkloadFindings(
        name=title,
        conditions=_conditions(found),
        responses=(found.response,),
        verdicts=found.verdicts,
        cells=(),
        caveats=found.caveats,
    )
    run = RunFindings(
        tool_version=__version__,
        study=title,
        question=title,
        variant=None,
        study_sha256="",
        seed=found.seed,
        run="",
        design="none" if found.design == "none" else None,
        systems=found.systems,
        baseline=found.systems[0],
        stop=StopFinding(
            reason="decided" if decided else "open",
            visits_done=found.visits,
            visits_planned=found.budget * max(len(_machines(found)), 1),
            trials_done=found.trials,
            attempts_failed=0,
            spent_s=0.0,  # not known, and in none of the sentences
        ),
        workloads=(own,),
        attempts=(),
        differences=(),
    )
    return View(run, own)


def _conditions(found: TrialsVerdict) -> tuple[dict[str, Level], ...]:
    if machines := _machines(found):
        return tuple({MACHINE: name} for name in machines)
    return tuple({LOAD: load} for load in found.loads) or ({},)


def _machines(found: TrialsVerdict) -> list[Level]:
    """Those that have a verdict of their own; none where all trials are of one."""
    known = [each.conditions or {} for each in found.verdicts]
    return list(dict.fromkeys(each[MACHINE] for each in known if MACHINE in each))


def _on_each(found: TrialsVerdict) -> str:
    machines = _machines(found)
    return f", drawn on each of {len(machines)} machines by itself" if machines else ""


def _looks(found: TrialsVerdict) -> str:
    done = f"{counted(found.visits, 'visit')} ({counted(found.trials, 'trial')})"
    machines = _machines(found)
    if machines:
        done += f" on {len(machines)} machines"
    if found.design == "none":
        return f"One look, after {done}."
    decided = [v.decided_at_visit for v in found.verdicts if v.decided_at_visit is not None]
    open_ones = len(found.verdicts) - len(decided)
    each = (
        f" on each and all of them, of at most {found.budget} on one"
        if machines
        else (f", of at most {found.budget}")
    )
    words = f"A look after each of {done} from the 8th on{each}"
    if found.visits > found.budget * max(len(machines), 1):
        words += f" and their extension to {2 * found.budget}"
    if open_ones:
        return f"{words}; {counted(open_ones, 'comparison')} undecided."
    return f"{words}; the last decision fell at visit {max(decided)}."
