"""Distributions of the engine read back: two of a real run, beside its exact figures."""

from __future__ import annotations

import base64
import zlib

import pytest

from steelyard.records.histogram import add_buckets, read_buckets

SERVICE = (
    "HISTFAAAAN54nC2OoWtCYRTFv/v7vsfbGGMT02CmhSFjsDGWhhgGa0tiMBnFbDIriIhBXjSoUUwGwSoiJpPB"
    "YDA+xKL4D3ifeuFwD+fcw7nP1SBujAnNZex1i9K/j3HXpPcXodUQQuGVivBJIPgYxQ9JEvwqRkITCmclqV6B"
    "NJZvTcT0LsuL8nu+VPN1G964oy4uQWDVHQopaoJH29GAJ1aO0KMHZfKROLfOckucDhyEIiW2ln/0rwna4Ske"
    "4F2L51EoFdlTOAoZtepCjrVQeeQQY3nDzGPn2Diajj4McCx8TlQcK9w="
)
CONNECT = (
    "HISTFAAAAHV4nC2NsQ0CUQxDzUt+uBMFSFcgJHpaJAagYyFWYANEzxjswSKMgPlHosiWZcf7232SdNU8/HEh"
    "xeX4eur8mYXHhok3iAMjS9hV+0GDsOhLqKqgZSMHIINyoEjRLcRgpKLckw70nOkIa3/qtpX3xNbsC4yeCBI="
)
SEEN = {
    SERVICE: (100, 222_341, 16_856_399.0, 243_100_931, 0.001),
    CONNECT: (100, 17_896, 86_222.87, 163_934, 0.01),
}


@pytest.mark.parametrize("written", SEEN, ids=["three digits", "two digits"])
def test_a_histogram_holds_what_the_engine_counted(written: str) -> None:
    count, least, mean, largest, digits = SEEN[written]
    buckets = read_buckets(written)
    assert sum(buckets.values()) == count
    middle = sum((low + beyond) / 2 * n for (low, beyond), n in buckets.items()) / count
    assert middle == pytest.approx(mean, rel=digits)
    (first, first_beyond), (last, last_beyond) = min(buckets), max(buckets)
    assert first <= least < first_beyond
    assert last <= largest < last_beyond
    assert all((beyond - low) / beyond <= digits for low, beyond in buckets if low > 2048)


def test_two_of_them_together_hold_all_samples_in_the_same_buckets() -> None:
    whole = read_buckets(SERVICE)
    add_buckets(whole, read_buckets(SERVICE))
    assert whole == {bucket: 2 * n for bucket, n in read_buckets(SERVICE).items()}


@pytest.mark.parametrize("written", ["", "AAAA", "not base64!", SERVICE[:40], CONNECT[:-8]])
def test_what_is_no_histogram_is_refused_and_not_read_as_empty(written: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        read_buckets(written)


def test_a_histogram_that_was_shifted_is_refused() -> None:
    content = base64.b64decode(SERVICE)
    plain = bytearray(zlib.decompress(content[8:]))
    plain[11] = 1
    changed = base64.b64encode(content[:8] + zlib.compress(bytes(plain))).decode()
    with pytest.raises(ValueError, match="shifted"):
        read_buckets(changed)
