"""Charts of several conditions: drawings side by side, and labels beside marks.

A label is as short as it may be and still differs from the others.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

from steelyard.report.charts.drawing import Drawing
from steelyard.report.view import View
from steelyard.study.labels import Labels
from steelyard.study.model import SCENARIO, WORKLOAD, Level

MOST_CONDITIONS = 12

_Item = TypeVar("_Item")


@dataclass(frozen=True)
class Panels:
    """``condition`` is empty where there is but one."""

    condition: str
    drawings: tuple[Drawing, ...]


def evenly(items: list[_Item], most: int = MOST_CONDITIONS) -> list[_Item]:
    """All, or so many with the first and the last."""
    last = len(items) - 1
    if last < most:
        return items
    return [items[round(i * last / (most - 1))] for i in range(most)]


Conditions = Mapping[str, Level]


@dataclass(frozen=True)
class ConditionLabels:
    """``title`` names the factors whose levels stand alone; ``of`` has the label of each text."""

    title: str | None
    of: Mapping[str, str]

    def short(self, labels: Labels, conditions: Conditions) -> str:
        """The label of these conditions; those that are not known in full."""
        full = labels.conditions(conditions)
        return self.of.get(full, full)


def condition_labels(view: View) -> ConditionLabels:
    """Levels that are words stand without their factor, which the title then names."""
    labels, conditions = view.run.labels, view.own.conditions or ({},)
    full = [labels.conditions(each) for each in conditions]
    short = [_short(labels, each) for each in conditions]
    if len(set(short)) < len(set(full)):
        return ConditionLabels(None, {})
    alone = dict.fromkeys(
        name.rpartition(".")[2] for each in conditions for name in each if _alone(name, each[name])
    )
    return ConditionLabels(", ".join(alone) or None, dict(zip(full, short, strict=True)))


def _short(labels: Labels, conditions: Conditions) -> str:
    return ", ".join(_part(labels, name, level) for name, level in conditions.items())


def _part(labels: Labels, name: str, level: Level) -> str:
    if name in {WORKLOAD, SCENARIO} or name.startswith("load."):
        return labels.conditions({name: level})
    word = labels.level(level, name)
    return word if _alone(name, level) else f"{name.rpartition('.')[2]} {word}"


def _alone(name: str, level: Level) -> bool:
    """Whether a level says by itself what it is a level of."""
    return isinstance(level, str) and not name.startswith("load.") and name not in {
        WORKLOAD, SCENARIO
    }  # fmt: skip
