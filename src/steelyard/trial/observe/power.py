"""Energy of a machine, by the counters of its processors (RAPL, ``/sys/class/powercap``), or what
it draws from its batteries.

``psys`` counts the whole board where a machine has it; else the packages and their memory are added
(``dram``, or ``package-1.dram`` where several packages have some).
"""

from __future__ import annotations

from typing import Literal

from steelyard.records.missing import Missing, MissingKind, Quoted, Reading, Reason
from steelyard.trial.observe.devices import rate_of, total_of
from steelyard.trial.observe.window import WindowSamples

_BEGIN, _END = "power.", ".energy_uj"
_DRAWN, _DISCHARGING = "battery.drawn_uw", "battery.discharging"
_WHOLE, _PACKAGE, _MEMORY = "psys", "package-", "dram"

_FEWEST = 2


def mean_power_w(window: WindowSamples) -> Reading:
    """Watts over the window, or why there is no figure."""
    if window.unsampled is not None:
        return window.unsampled
    zones = zones_of(window)
    if not zones:
        return _no_sensor(window, "power", "no_energy_counter")
    watts = total_of([rate_of(window, f"{_BEGIN}{zone}{_END}", 1e-6) for zone in zones])
    return Reason(kind="energy_counters_constant") if watts == 0 else watts


def energy_j(window: WindowSamples) -> Reading:
    """Joules over the whole window: its mean power times its length."""
    watts = mean_power_w(window)
    if isinstance(watts, MissingKind):
        return watts
    if window.length_s is None:
        return Reason(kind="window_length_unknown")
    return watts * window.length_s


def battery_power_w(window: WindowSamples) -> Reading:
    """Mean of the watts that were drawn from batteries, if they fed the machine all the while."""
    if window.unsampled is not None:
        return window.unsampled
    if _DRAWN not in window.counters.columns:
        return _no_sensor(window, "battery", "no_battery")
    feeding = window.counters[_DISCHARGING]
    if len(feeding) >= _FEWEST and None not in feeding and 0 in feeding:
        return Reason(kind="battery_not_discharging")
    missing = window.why_missing(_DRAWN)
    if missing is not None:
        return missing
    drawn_uw = window.counters.floats(_DRAWN)
    if drawn_uw.max() == 0:
        return Reason(kind="battery_reads_zero")
    return float(drawn_uw.mean()) / 1e6


def _no_sensor(
    window: WindowSamples, family: str, absent: Literal["no_battery", "no_energy_counter"]
) -> Missing:
    """What the sampler says of a family of sensors; ``absent`` where it says nothing."""
    said = next((why for key, why in window.missing.items() if key.startswith(family)), None)
    return Reason(kind=absent) if said is None else Quoted(kind="sensor_refused", said=said)


def zones_of(window: WindowSamples) -> list[str]:
    """The zones that count each joule once."""
    names = [
        name.removeprefix(_BEGIN).removesuffix(_END)
        for name in window.counters.columns
        if name.startswith(_BEGIN) and name.endswith(_END)
    ]
    if _WHOLE in names:
        return [_WHOLE]
    memory = [name for name in names if name.rpartition(".")[2] == _MEMORY]
    packages = [name for name in names if name.startswith(_PACKAGE) and name not in memory]
    if _MEMORY in memory and len(packages) > 1:
        memory = []  # an engine that reports one of several packages does not say which
    return [*packages, *memory]
