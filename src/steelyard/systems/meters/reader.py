"""Reads a meter on and on in a thread of the controller, while a load runs."""

from __future__ import annotations

import threading
import time

from steelyard.systems.meters.ask import OpenMeter
from steelyard.systems.meters.reading import MeterReading, MeterSeries, without_repeated

_PERIODS_AFTER = 3
"""For how many periods a meter is asked beyond the end until it has answered well."""


class MeterReader:
    """Asks one meter at a steady pace from ``start`` to ``stop``; both wait for a reading."""

    def __init__(self, meter: OpenMeter, every_s: float) -> None:
        self._meter = meter
        self._every_s = max(every_s, meter.every_s)
        self._readings: list[MeterReading] = []
        self._read_once = threading.Event()
        self._stopping = threading.Event()
        self._last_ns = 0
        self._ended = False
        self._thread = threading.Thread(target=self._go, name=f"meter {meter.name}", daemon=True)

    def start(self) -> None:
        """Returns when it has been asked once, so that a load lies between two readings."""
        self._thread.start()
        self._read_once.wait(2 * self._meter.timeout_s)

    def stop(self) -> MeterSeries:
        """All readings; it was asked until one came that is newer than what ends now."""
        self._last_ns = time.monotonic_ns() + round(self._every_s * 1e9)
        self._stopping.set()
        self._thread.join((self._every_s + self._meter.timeout_s) * (1 + _PERIODS_AFTER))
        readings = without_repeated(tuple(self._readings))
        form = self._meter.form
        return MeterSeries(readings, form.counts, form.step, self._every_s)

    def end(self) -> None:
        """Ends it without waiting for a reading; nothing if it has ended."""
        self._ended = True
        self._stopping.set()

    def _go(self) -> None:
        due = time.monotonic()
        while not self._is_over():
            self._readings.append(self._meter.read())
            self._read_once.set()
            due += self._every_s
            now = time.monotonic()
            due = max(due, now)  # what was missed is not made up
            self._pause(due - now)

    def _pause(self, left_s: float) -> None:
        """Until the next reading is due; once it ends, until one would be new enough."""
        if not self._stopping.wait(left_s):
            return
        if self._ended:
            return
        wait_s = (self._last_ns - time.monotonic_ns()) / 1e9
        time.sleep(max(0.0, min(wait_s, self._every_s)))

    def _is_over(self) -> bool:
        if self._ended:
            return True
        if not self._stopping.is_set() or not self._readings:
            return False
        last = self._readings[-1]
        if last.asked_ns >= self._last_ns and last.problem is None:
            return True
        beyond_ns = self._last_ns + round(_PERIODS_AFTER * self._every_s * 1e9)
        return time.monotonic_ns() > beyond_ns
