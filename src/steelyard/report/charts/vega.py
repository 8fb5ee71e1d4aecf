"""Charts as documents in the words of Vega-Lite: rows, a mark for each, what its channels show.

Keys and values are those of https://vega.github.io/vega-lite/docs/, so much of them as ``svg/``
draws. Beside them an axis has ``labels``, the lines of the label at each of its ``values``, and a
condition tests a field of the row.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

Spec: TypeAlias = dict[str, Any]
"""A document, or a part of one: a layer, a channel, a scale."""


def marks(
    mark: str, rows: Sequence[Mapping[str, Any]], channels: Mapping[str, Any], **style: Any
) -> Spec:
    """One mark for each row; the caller bounds their number. A channel given as text is a field."""
    encoding = {
        name: {"field": shown} if isinstance(shown, str) else shown
        for name, shown in channels.items()
    }
    return {"data": {"values": rows}, "mark": {"type": mark, **style}, "encoding": encoding}


def layered(layers: Iterable[Spec], width_px: int, height_px: int) -> Spec:
    """Layers over one another, on common axes. One without rows is not there."""
    shown = [layer for layer in layers if layer["data"]["values"]]
    return {"layer": shown, "width": width_px, "height": height_px}


def scaled(field: str, channel: Spec) -> Spec:
    """A numeric field on the scale and the axis of a channel."""
    return {"field": field, "type": "quantitative", **channel}


def constant(value: float | str) -> Spec:
    """The same for every mark."""
    return {"value": value}


def either(test: str, one: Spec, other: Spec) -> Spec:
    """Where the field ``test`` of the row is true the one, else the other, which is a constant."""
    return {"condition": {"test": test, **one}, **other}


def axis_over(low: float, high: float, **axis: Any) -> Spec:
    """A channel from ``low`` to ``high``, neither rounded nor made to hold zero, and its axis."""
    return {"scale": {"domain": [low, high], "nice": False, "zero": False}, "axis": axis}
