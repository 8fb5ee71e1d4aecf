"""Programs that take from a machine what a study needs. Run by path: `hogs.py memory|file PATH`.

They stop themselves at once and go on when they are told to (SIGCONT).
"""

from __future__ import annotations

import mmap
import os
import random
import signal
import sys

_PAGE = 4096


def main() -> None:
    """Touches pages at random, of more memory than its control group allows, or of a file."""
    kind, path, size_bytes = sys.argv[1], sys.argv[2], int(sys.argv[3])
    if kind == "file":
        file = os.open(path, os.O_RDONLY)
        pages = mmap.mmap(file, size_bytes, prot=mmap.PROT_READ)
        pages.madvise(mmap.MADV_RANDOM)
    else:
        pages = mmap.mmap(-1, size_bytes)
    os.kill(os.getpid(), signal.SIGSTOP)
    chance, total = random.Random(1), 0  # noqa: S311 - decides nothing
    while True:
        at = chance.randrange(size_bytes // _PAGE) * _PAGE
        if kind == "file":
            total += pages[at]
        else:
            pages[at] = (pages[at] + 1) % 256


if __name__ == "__main__":
    main()
