"""Reads whole distributions as the engine writes them: HdrHistogram V2, deflated, in base64.

The format is that of the HdrHistogram libraries: a header of 40 bytes, then counts as zigzag
LEB128 numbers, a negative one standing for so many empty buckets.
"""

from __future__ import annotations

import base64
import math
import struct
import zlib
from collections.abc import Iterator
from functools import lru_cache

_COMPRESSED, _PLAIN = 0x1C849304, 0x1C849303
_SIZE_BITS = 0xF0  # of a cookie: the size of a word, which says nothing here
_HEADER = struct.Struct(">IIIIqqd")
_LONGEST_NUMBER = 9

Buckets = dict[tuple[int, int], int]
"""Counts by lowest value and by the first value beyond, in nanoseconds."""


def read_buckets(written: str) -> Buckets:
    """The buckets that hold anything.

    Raises:
        ValueError: this is no such histogram.
    """
    try:
        content = base64.b64decode(written, validate=True)
        cookie, _ = struct.unpack_from(">II", content)
        if cookie & ~_SIZE_BITS != _COMPRESSED:
            raise ValueError(f"cookie {cookie:#x} is not that of a compressed histogram")
        plain = zlib.decompress(content[8:])
        cookie, length, offset, digits, lowest, _, _ = _HEADER.unpack_from(plain)
    except (struct.error, zlib.error) as error:
        raise ValueError(f"no histogram: {error}") from error
    if cookie & ~_SIZE_BITS != _PLAIN or offset:
        raise ValueError("a histogram of another version, or one that was shifted")
    counts = plain[_HEADER.size : _HEADER.size + length]
    if len(counts) != length:
        raise ValueError("the histogram is cut short")
    return dict(_spelt_out(counts, digits, lowest))


def add_buckets(whole: Buckets, more: Buckets) -> None:
    """Adds ``more`` to ``whole``; without loss where both have the same digits."""
    for bucket, count in more.items():
        whole[bucket] = whole.get(bucket, 0) + count


def _spelt_out(counts: bytes, digits: int, lowest: int) -> Iterator[tuple[tuple[int, int], int]]:
    unit = max(0, int(math.log2(max(1, lowest))))
    half_bits = math.ceil(math.log2(2 * 10**digits)) - 1
    index = 0
    for number in _numbers(counts):
        if number < 0:
            index -= number
            continue
        if number:
            yield _bounds(index, half_bits, unit), number
        index += 1


@lru_cache(maxsize=2**15)  # the histograms of a run have mostly the same buckets
def _bounds(index: int, half_bits: int, unit: int) -> tuple[int, int]:
    half = 1 << half_bits
    power = max(0, (index >> half_bits) - 1)
    place = index if index < half else (index & (half - 1)) + half
    low = place << (power + unit)
    return low, low + (1 << (power + unit))


def _numbers(content: bytes) -> Iterator[int]:
    """Zigzag LEB128; the ninth byte of a number holds eight bits."""
    place = 0
    while place < len(content):
        first = content[place]
        if not first & 0x80:  # most numbers: a bucket of few operations, a short gap
            place += 1
            yield (first >> 1) ^ -(first & 1)
            continue
        value, shift = 0, 0
        for read in range(1, _LONGEST_NUMBER + 1):
            if place >= len(content):
                raise ValueError("the histogram ends within a number")
            byte = content[place]
            place += 1
            last = read == _LONGEST_NUMBER
            value |= (byte if last else byte & 0x7F) << shift
            shift += 7
            if last or not byte & 0x80:
                break
        yield (value >> 1) ^ -(value & 1)
