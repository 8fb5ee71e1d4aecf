"""``python -m bench.judge``: one line for each thing that is timed."""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from bench.judge import factors, verdicts

if __name__ == "__main__":
    for part in (verdicts, factors):
        for row in part.rows():
            print(row.text, flush=True)
