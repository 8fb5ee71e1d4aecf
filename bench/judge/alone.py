"""``python -m bench.judge.alone VISITS SEED``: one set of trials in a process of its own.

Prints processor time, time by the clock (seconds) and the largest memory of the process (MB).
"""

from __future__ import annotations

import os
import resource
import sys
import time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from steelyard.inference.randomisation import big_stick
from steelyard.judge import judge_trials

NOISE_LOG = 0.02

if __name__ == "__main__":
    visits, seed = map(int, sys.argv[1:])
    random = np.random.default_rng(seed)
    names = np.where(big_stick(1, visits, random)[:, 0] > 0, "B", "A").tolist()
    response = np.exp(random.normal(0, NOISE_LOG, visits))
    cpu, wall = time.process_time(), time.perf_counter()
    judge_trials(names, response, baseline="A", seed=seed)
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    print(cpu, wall, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
