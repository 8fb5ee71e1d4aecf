"""Random order: which system each visit prepares, and in which order it meets the conditions.

Every draw comes from the seed of the plan and a purpose, so that one purpose can be replayed
without the others. Sequences are drawn from the front: the first N of 2N are what N alone would
have been.
"""

from __future__ import annotations

import hashlib

import numpy as np


def generator(seed: int, purpose: str) -> np.random.Generator:
    """The stream of random numbers for one purpose (``coin``, ``conditions``, ``paths``, ...).

    PCG64 seeded with the SHA-256 of ``"{seed}:{purpose}"``: equal seed and purpose give equal
    draws, and different purposes are independent.
    """
    digest = hashlib.sha256(f"{seed}:{purpose}".encode()).digest()
    sequence = np.random.SeedSequence(int.from_bytes(digest, "big"))
    return np.random.Generator(np.random.PCG64(sequence))
