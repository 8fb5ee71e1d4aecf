"""What stands above charts, with the figures that they do not hold themselves."""

from __future__ import annotations

from collections.abc import Iterator

from steelyard.report.charts.conditions import MOST_CONDITIONS
from steelyard.report.figures import counted, listed
from steelyard.report.view import View
from steelyard.report.vocabulary import primary_response


def order_note(view: View) -> str:
    """How to read the chart of the trials in their order."""
    response = primary_response(view)
    label = "primary response" if response is None else response.label
    said = f"Each mark is the {label} of one trial against the median of its cell"
    if len(view.own.conditions) > 1:
        said += "; colour is the system, shape the condition"
    return f"{said}. {_trend(view)}"


def _trend(view: View) -> str:
    pairs = [f"{trend.other} and {trend.baseline}" for trend in view.own.trends]
    if not pairs:
        return "No trend was removed: that needs 12 visits and a comparison."
    line = "The dashed line is the slow change" if len(pairs) == 1 else "Dashed lines are the slow"
    changes = "" if len(pairs) == 1 else " changes"
    return f"{line}{changes} that was removed before {listed(pairs)} were compared."


def resource_note(view: View) -> str:
    """How to read the panels of resources, and what they leave out."""
    return " ".join(_resource_sentences(view))


def _resource_sentences(view: View) -> Iterator[str]:
    found = view.own.resources
    if not found:
        return
    yield (
        "A line is the median over the trials of a system, its band goes from 10 % "
        "to 90 % of them; the window is shaded, a dashed line is what the machine has."
    )
    if view.own.happened:
        yield "A darker stretch is an event of the study, from its start to its end."
    conditions = len({view.run.labels.conditions(each.cell.conditions) for each in found})
    if conditions > MOST_CONDITIONS:
        yield f"Shown are {MOST_CONDITIONS} of {conditions} conditions, chosen evenly."
    refused = sum(each.refused for each in found)
    if refused:
        yield (
            f"{counted(refused, 'reading')} more than a tenth above what the machine has "
            f"{'was' if refused == 1 else 'were'} refused: the counter is wrong there."
        )
