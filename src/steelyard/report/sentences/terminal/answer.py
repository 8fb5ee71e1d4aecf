"""What ``steelyard run`` prints: the verdicts at the end, and the short form while it runs."""

from __future__ import annotations

from steelyard.judge.findings import RunFindings, VerdictFinding
from steelyard.judge.kinds.caveats import (
    ErrorRateByRandomisation,
    WarnedTrials,
)
from steelyard.report.sentences.assumptions import judged, sure_lines
from steelyard.report.sentences.influence import influence_answer
from steelyard.report.sentences.machines import resting_on_machines
from steelyard.report.sentences.verdict import (
    Sentence,
    condition_sentence,
    verdict_sentence,
)
from steelyard.report.view import NO_GRAND_MEAN, View, lines, views
from steelyard.report.vocabulary import ordered

_ABOVE = (ErrorRateByRandomisation, WarnedTrials)


def exploratory_lines(view: View) -> list[str]:
    """One sentence for each other response, over all conditions; the tables hold the rest."""
    primary = judged(view)
    rest = [v for v in view.own.verdicts if v not in primary and v.conditions is None]
    marked = [v.model_copy(update={"exploratory": True}) for v in rest]
    return [str(verdict_sentence(v, view)) for v in ordered(marked, view)]


def sure(run: RunFindings) -> list[str]:
    """What the verdicts of all workloads rest on."""
    apart = [NO_GRAND_MEAN] if len(run.workloads) > 1 else []
    together = [line for view in views(run) for line in resting_on_machines(view.own.machines)]
    return [*lines(run, sure_lines), *dict.fromkeys(together), *apart]


def answer(view: View) -> list[tuple[Sentence, list[str]]]:
    """Per compared system: its main sentence, and the short ones of each condition; then which
    parameters matter.

    Without a verdict over all conditions every condition gets a whole sentence of its own.
    """
    groups: list[tuple[Sentence, list[str]]] = []
    headed: set[tuple[str, str]] = set()
    for verdict in ordered(judged(view), view):
        if verdict.conditions is not None and _pair(verdict) in headed:
            groups[-1][1].append(condition_sentence(verdict, view))
            continue
        groups.append((verdict_sentence(verdict, view), []))
        if verdict.conditions is None:
            headed.add(_pair(verdict))
    return [*groups, *influence_answer(view)]


def _pair(verdict: VerdictFinding) -> tuple[str, str]:
    return verdict.baseline, verdict.other


def glance(run: RunFindings) -> list[str]:
    """The answers of every workload after its name; none where a study has a single workload."""
    several = [view for view in views(run) if view.heading is not None]
    return [view.titled(main.head) for view in several for main, _ in answer(view)]
