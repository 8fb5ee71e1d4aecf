"""Whether the machines were left as found: what the ledger says, in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from steelyard.records.ledger import Event

_NAMED = 3


def left_as_found(events: Sequence[Event]) -> Iterator[str]:
    """One sentence for a run whose machines were compared, and one for each that could not be."""
    compared = [event for event in events if event["event"] == "environment_compared"]
    if not compared:
        return
    machines = sorted({name for event in compared for name in event["machines"]})
    found = [each for event in compared for each in event["differences"]]
    count = sum(event["count"] for event in compared)
    if machines and count == 0:
        yield (
            f"Left as found: mounts, devices, settings, networks, containers and processes of "
            f"{', '.join(machines)} were the same after the run as before it."
        )
    elif count:
        told = "; ".join(f"{each['machine']}: {each['what']}" for each in found[:_NAMED])
        more = "" if count <= _NAMED else f"; and {count - _NAMED} more, see the ledger"
        noun = "thing is" if count == 1 else "things are"
        yield f"Not left as found: {count} {noun} otherwise than before the run: {told}{more}."
    for name, why in {n: w for event in compared for n, w in event["untold"].items()}.items():
        yield f"Whether {name} was left as found is not known: {why}."
