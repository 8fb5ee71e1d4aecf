"""Energy of a machine, by the counters of its processors (RAPL, ``/sys/class/powercap``), or what
it draws from its batteries.

``psys`` counts the whole board where a machine has it; else the packages and their memory are added
(``dram``, or ``package-1.dram`` where several packages have some).
"""

from __future__ import annotations

from steelyard.trial.observe.flows import Reading
from steelyard.trial.observe.window import WindowSamples

_BEGIN, _END = "power.", ".energy_uj"
_DRAWN, _DISCHARGING = "battery.drawn_uw", "battery.discharging"
_WHOLE, _PACKAGE, _MEMORY = "psys", "package-", "dram"

_FEWEST = 2
_NOT_DISCHARGING = (
    "the battery did not discharge all the while: what one takes in is not what is used"
)


def mean_power_w(window: WindowSamples) -> Reading:
    """Watts over the window, or why there is no figure."""
    if window.unsampled is not None:
        return None, window.unsampled
    zones = zones_of(window)
    if not zones:
        reasons = [why for key, why in window.missing.items() if key.startswith("power")]
        told = reasons[0] if reasons else "no energy counter was sampled"
        return None, f"not available here: {told}"
    watts = 0.0
    for zone in zones:
        column = f"{_BEGIN}{zone}{_END}"
        rate = window.rate_per_s(column)
        if rate is None:
            return None, window.why_missing(column) or "not sampled"
        watts += rate / 1e6
    if watts == 0:
        return None, "the energy counters stood still"
    return watts, None


def energy_j(window: WindowSamples) -> Reading:
    """Joules over the whole window: its mean power times its length."""
    watts, missing = mean_power_w(window)
    if watts is None:
        return None, missing or "not sampled"
    if window.length_s is None:
        return None, "the length of the window is not known"
    return watts * window.length_s, None


def battery_power_w(window: WindowSamples) -> Reading:
    """Mean of the watts that were drawn from batteries, if they fed the machine all the while."""
    if window.unsampled is not None:
        return None, window.unsampled
    if _DRAWN not in window.frame.columns:
        why = window.missing.get("battery", "no battery was sampled")
        return None, f"not available here: {why}"
    feeding = window.frame[_DISCHARGING]
    if feeding.len() >= _FEWEST and not feeding.null_count() and feeding.to_numpy().min() == 0:
        return None, _NOT_DISCHARGING
    missing = window.why_missing(_DRAWN)
    if missing is not None:
        return None, missing
    drawn_uw = window.frame[_DRAWN].to_numpy()
    if drawn_uw.max() == 0:
        return None, "the battery tells 0 W while it discharges"
    return float(drawn_uw.mean()) / 1e6, None


def zones_of(window: WindowSamples) -> list[str]:
    """The zones that count each joule once."""
    names = [
        name.removeprefix(_BEGIN).removesuffix(_END)
        for name in window.frame.columns
        if name.startswith(_BEGIN) and name.endswith(_END)
    ]
    if _WHOLE in names:
        return [_WHOLE]
    memory = [name for name in names if name.rpartition(".")[2] == _MEMORY]
    packages = [name for name in names if name.startswith(_PACKAGE) and name not in memory]
    if _MEMORY in memory and len(packages) > 1:
        memory = []  # an engine that reports one of several packages does not say which
    return [*packages, *memory]
