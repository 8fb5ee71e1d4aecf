"""Meters of power outside of the machines that they measure: asked and read on the controller."""

from steelyard.systems.meters.ask import OpenMeter, open_meter
from steelyard.systems.meters.preflight import refuse_unreadable
from steelyard.systems.meters.reader import MeterReader
from steelyard.systems.meters.reading import MeterReading, MeterSeries

__all__ = [
    "MeterReader",
    "MeterReading",
    "MeterSeries",
    "OpenMeter",
    "open_meter",
    "refuse_unreadable",
]
