"""Whether the machines were left as found: what the ledger says, in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from steelyard.records.events import EnvironmentCompared, EnvironmentDifference, Event

_NAMED = 3


def left_as_found(events: Sequence[Event]) -> Iterator[str]:
    """One sentence for a run whose machines were compared, and one for each that could not be."""
    compared = [event for event in events if isinstance(event, EnvironmentCompared)]
    if not compared:
        return
    machines = sorted({name for event in compared for name in event.machines})
    found = [each for event in compared for each in event.differences]
    count = sum(event.count for event in compared)
    if machines and count == 0:
        yield (
            f"Left as found: mounts, devices, settings, networks, containers and processes of "
            f"{', '.join(machines)} were the same after the run as before it."
        )
    elif count:
        told = "; ".join(_what(each) for each in found[:_NAMED])
        more = "" if count <= _NAMED else f"; and {count - _NAMED} more, see the ledger"
        noun = "thing is" if count == 1 else "things are"
        yield f"Not left as found: {count} {noun} otherwise than before the run: {told}{more}."
    for name, why in {n: w for event in compared for n, w in _unknown(event).items()}.items():
        yield f"Whether {name} was left as found is not known: {why}."


def _unknown(event: EnvironmentCompared) -> dict[str, str]:
    return event.not_listed | dict.fromkeys(event.forced_stop, "the run was forced to stop")


def _what(each: EnvironmentDifference) -> str:
    was = "was not there" if each.before is None else f"was {each.before!r}"
    now = "is gone" if each.after is None else f"is {each.after!r}"
    return f"{each.machine}: {each.kind} {each.name}: {was}, {now}"
