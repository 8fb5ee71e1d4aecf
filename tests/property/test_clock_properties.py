"""The true offset lies within the uncertainty, however unequal the ways are."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from steelyard.hosts.clocks import ClockExchange, ClockOffset, drift_ppm, drift_uncertainty_ppm

DELAYS = st.integers(0, 10**9)
OFFSETS = st.integers(-(10**15), 10**15)


@st.composite
def exchanges(draw: st.DrawFn, offset_ns: int, first_ns: int) -> list[ClockExchange]:
    sent_ns, made = first_ns, []
    for there_ns, within_ns, back_ns in draw(
        st.lists(st.tuples(DELAYS, DELAYS, DELAYS), min_size=1, max_size=8)
    ):
        arrived_ns = sent_ns + there_ns
        left_ns = arrived_ns + within_ns
        stamps = (sent_ns, arrived_ns + offset_ns, left_ns + offset_ns, left_ns + back_ns)
        made.append(ClockExchange(*stamps))
        sent_ns = left_ns + back_ns + 1
    return made


@given(data=st.data(), offset_ns=OFFSETS)
def test_the_true_offset_is_within_the_uncertainty(data: st.DataObject, offset_ns: int) -> None:
    offset = ClockOffset.of(data.draw(exchanges(offset_ns, 0)))
    assert abs(offset.offset_ns - offset_ns) <= offset.uncertainty_ns


@given(data=st.data(), offset_ns=OFFSETS, step_ns=st.integers(-(10**6), 10**6))
def test_the_true_drift_is_within_its_uncertainty(
    data: st.DataObject, offset_ns: int, step_ns: int
) -> None:
    before = ClockOffset.of(data.draw(exchanges(offset_ns, 0)))
    after = ClockOffset.of(data.draw(exchanges(offset_ns + step_ns, 10**11)))
    truth_ppm = step_ns * 1e6 / (after.at_ns - before.at_ns)
    allowed = drift_uncertainty_ppm(before, after) * (1 + 1e-9) + 1e-9
    assert abs(drift_ppm(before, after) - truth_ppm) <= allowed
