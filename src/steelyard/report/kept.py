"""Findings as they lie beside the report of a run, where judging again would give the same."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from steelyard.judge.findings import RunFindings
from steelyard.records.archive import Run
from steelyard.report.formats.registry import FORMATS, ORIGIN, origin_of
from steelyard.report.from_run import find
from steelyard.report.origin import made_of, still

SAID = "findings: of an earlier report, made of the same records by the same program"


@dataclass(frozen=True)
class Found:
    """Findings, and the digest of what they are made of, ``None`` if that is not known.

    ``before``: they are those of an earlier report.
    """

    findings: RunFindings
    made_of: str | None
    before: bool = False


def found(run: Run, notes: Path | None = None) -> Found:
    """The findings beside the report of a run, where this very program made them of these very
    records; otherwise what is found now, as always with ``notes`` that are not the run's own.

    Raises: as ``find``.
    """
    digest = made_of(run) if notes is None else None
    kept = None if digest is None else _kept(run.report_path, digest)
    if kept is not None:
        return Found(kept, digest, before=True)
    findings = find(run, notes)
    return Found(findings, still(run, digest))


def _kept(report: Path, digest: str) -> RunFindings | None:
    try:
        text = (report / FORMATS["json"].file).read_bytes()
        if (report / ORIGIN).read_bytes() == origin_of(digest, text).encode():
            return RunFindings.model_validate_json(text)
    except (OSError, ValidationError):  # none were written, or others
        pass
    return None
