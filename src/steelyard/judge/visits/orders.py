"""The orders that the visits of a pair had and might have had, as far as they are in a series."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from steelyard.inference.exact import Pool
from steelyard.inference.randomisation import Design, draw


class Law(NamedTuple):
    """What the orders of a pair are drawn by."""

    seed: int
    design: Design
    length: int
    paths: int


def pool_of(law: Law, paths: int, assigned: tuple[bool, ...], slots: tuple[int, ...]) -> Pool:
    """The observed and the simulated orders of the visits at these places of the assignment.

    Those of a series without a gap are a view of what was drawn, which all series share.
    """
    if slots != tuple(range(len(slots))):
        return _with_gaps(law, paths, assigned, slots)
    return _whole(law, paths, assigned).first(len(slots))


@lru_cache(maxsize=2)
def _with_gaps(law: Law, paths: int, assigned: tuple[bool, ...], slots: tuple[int, ...]) -> Pool:
    """Kept for the conditions and responses that have the same gaps."""
    places = list(slots)
    return Pool(*(signs[places] for signs in _whole(law, paths, assigned)))


@lru_cache(maxsize=4)
def _whole(law: Law, paths: int, assigned: tuple[bool, ...]) -> Pool:
    signs = np.where(assigned, np.int8(1), np.int8(-1))
    return Pool(signs, draw(law.seed, law.design, law.length, law.paths)[:, :paths])
