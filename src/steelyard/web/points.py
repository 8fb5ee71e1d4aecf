"""One run as a point of a history: from its findings as they were written, or judged again."""

from __future__ import annotations

from collections.abc import Callable

from pydantic import ValidationError

import steelyard
from steelyard.errors import SteelyardError
from steelyard.history.point import RunPoint, point_of
from steelyard.judge.findings import RunFindings
from steelyard.records.archive import Run
from steelyard.report.formats.registry import FORMATS
from steelyard.report.from_run import find
from steelyard.web.reading import MOST_FILE_BYTES, read_bounded


def point(run: Run, judged: Callable[[Run], RunFindings] = find) -> RunPoint:
    """The point of one run.

    Raises:
        SteelyardError: it cannot be read.
    """
    return point_of(run.facts(), written(run) or judged(run), run.records())


def written(run: Run) -> RunFindings | None:
    """The findings beside its report, where they are of this version and of all its records."""
    path = run.report_path / FORMATS["json"].file
    try:
        if path.stat().st_mtime_ns < run.ledger_path.stat().st_mtime_ns:
            return None
        found = RunFindings.model_validate_json(read_bounded(path, MOST_FILE_BYTES))
    except (OSError, ValidationError, SteelyardError):
        return None
    facts = run.facts()
    own = (f"{run.path.parent.name}/{run.name}", facts.study_sha256, steelyard.__version__)
    return found if (found.run, found.study_sha256, found.tool_version) == own else None
