"""What takes seconds to make of a run: done in a process of its own, so that pages stay quick."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from steelyard.errors import SteelyardError
from steelyard.history.point import RunPoint
from steelyard.judge.findings import RunFindings
from steelyard.records.archive import FACTS, IMPORT, MACHINES, OF_MACHINES, Run
from steelyard.records.commitment import COMMITMENT
from steelyard.records.files.checksums import SUMS
from steelyard.records.files.packed import PACKED
from steelyard.report.formats.html import render
from steelyard.report.formats.registry import FORMATS
from steelyard.report.from_run import find
from steelyard.web.points import point
from steelyard.web.reading import refuse_unreadable

RECORDS = "records"
"""Where the files of a run lie, as seen from its page."""
_BESIDE = {name: FORMATS[name].file for name in ("csv", "json")}
_NICENESS = 10
_READ = (
    *(FACTS, IMPORT, MACHINES),
    *("plan.json", "study.yaml", COMMITMENT, SUMS, "ledger.jsonl", "trials", PACKED, "notes"),
)

Fingerprint = tuple[tuple[str, int, int], ...]
Content = str | RunPoint


@dataclass(frozen=True)
class Refused:
    """Why nothing could be made of a run, and what to do."""

    message: str
    hint: str | None


def fingerprint_of(run: Path) -> Fingerprint:
    """What changes when anything does that is made of a run, or of those of its machines."""
    found = []
    parts = sorted(run.glob(f"{OF_MACHINES}/*/"))
    for path in (place / name for place in (run, *parts) for name in _READ):
        try:
            status = path.lstat()
        except OSError:
            continue
        found.append((str(path.relative_to(run)), status.st_mtime_ns, status.st_size))
    return tuple(found)


def begin() -> None:
    """In the new process: Ctrl-C is for the server, and what is measured goes first."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.nice(_NICENESS)


def make(kind: str, run: str, fingerprint: Fingerprint) -> Content | Refused:
    """One of ``MAKERS`` of one run. ``fingerprint`` is that of the files that are asked for."""
    try:
        refuse_unreadable(Path(run))
        return MAKERS[kind](run, fingerprint)
    except SteelyardError as error:
        return Refused(error.message, error.hint)
    except (OSError, MemoryError, RecursionError) as error:
        return Refused(f"{run} cannot be read: {error!r}", None)
    except Exception as error:  # noqa: BLE001 - a run that no one expected must not end the rest
        return Refused(f"{run}: {type(error).__name__}: {error}",
                       "`steelyard report` of this run prints where it happens")  # fmt: skip


def _page(run: str, fingerprint: Fingerprint) -> str:
    return render(_findings(run, fingerprint), records=RECORDS, beside=_BESIDE)


def _csv(run: str, fingerprint: Fingerprint) -> str:
    return FORMATS["csv"].text(_findings(run, fingerprint))


def _json(run: str, fingerprint: Fingerprint) -> str:
    return FORMATS["json"].text(_findings(run, fingerprint))


def _point(run: str, fingerprint: Fingerprint) -> RunPoint:
    return point(Run(Path(run)), lambda _: _findings(run, fingerprint))


MAKERS: dict[str, Callable[[str, Fingerprint], Content]] = {
    "page": _page,
    "csv": _csv,
    "json": _json,
    "point": _point,
}


@lru_cache(maxsize=2)
def _findings(run: str, _fingerprint: Fingerprint) -> RunFindings:
    return find(Run(Path(run)))
