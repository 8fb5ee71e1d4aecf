"""The generator's warnings as sentences."""

from __future__ import annotations

from steelyard.engine.messages import LoadWarning

_TEXTS = {
    "generator_bound": "a worker of the generator used {busiest_worker_ratio:.0%} of its core",
    "late": "p99 of the generator's own lag is {lag_p99_ns:,} ns, above {allowed_ns:,} ns",
    "rate_not_reached": "{sent_ratio:.1%} of {asked_per_s:g} operations/s were sent",
    "stream_rate_not_reached": "{sent_ratio:.1%} of {asked_bytes_per_s:g} bytes/s were sent",
    "connections_missing": "{achieved} of {asked} connections were established",
    "steal": "{steal_ratio:.1%} of the CPU time of the generator's machine was stolen",
    "run_delay": "the generator waited for a CPU for {run_delay_ratio:.1%} of the window",
    "conservation_broken": (
        "the generator lost count: {intended} intended, {unsent} unsent, {sent} sent, {ok} ok, "
        "{errors} errors, {inflight_at_stop} in flight"
    ),
    "littles_law": "throughput x time of a round is {computed_users:.2f}, with {users:g} users",
    "overloaded": "{unsent} arrivals were never sent; the true response times are longer",
    "cancelled": "ended on request; the figures cover the time until then",
    "too_few_samples": "{ok} operations succeeded; a median needs {needed}",
    "no_bytes": "not one byte arrived in the window",
    "flows_broken": "{broken} of {flows} flows ended before their time",
}


def text_of(warning: LoadWarning) -> str:
    """What happened, with its figures; the bare kind of a newer engine."""
    text = _TEXTS.get(warning.kind, warning.kind).format(**warning.figures)
    return text if warning.part is None else f"{warning.part}: {text}"
