"""Whether a meter can be read at all, asked before anything is started."""

from __future__ import annotations

from steelyard.hosts.failures import SystemFailure
from steelyard.study.lookup import meter_of
from steelyard.study.model import MeterSpec
from steelyard.systems.meters.ask import open_meter

_REMEDIES = {
    "silent": "look at its address, its password and the network between",
    "late": "look at the network between, or give it longer: `timeout` in a file of your own",
    "unreadable": "compare the answer with its file: docs/reference/meter-file.md",
    "negative": "turn the meter round, or see what it means by it",
    "other_unit": "write a file of your own with the unit that it tells",
}


def refuse_unreadable(spec: MeterSpec) -> None:
    """Asks it once.

    Raises:
        SystemFailure: ``tool_missing``: it tells no number that could be used.
        HostError: its secret cannot be read.
    """
    meter = open_meter(spec)
    reading = meter.read()
    if reading.problem is None:
        if not meter.form.counts and reading.value == 0:
            raise _nothing(spec)
        return
    word = reading.problem.replace("_", " ")
    packages = meter_of(spec).packages.get("debian", ())
    more = f"; Debian's package {packages[0]} has the program" if packages else ""
    raise SystemFailure(
        "tool_missing",
        f"the meter `{spec.use}` cannot be read ({word}): {reading.said}",
        _REMEDIES.get(reading.problem, "") + (more if reading.problem == "silent" else ""),
    )


def _nothing(spec: MeterSpec) -> SystemFailure:
    """A machine that is on draws power: it is another socket, or a sensor that does not measure."""
    return SystemFailure(
        "tool_missing",
        f"the meter `{spec.use}` tells 0 W: of a machine that is on it measures something else",
        "see which socket or sensor it is, and whether its unit and steps are fine enough",
    )
