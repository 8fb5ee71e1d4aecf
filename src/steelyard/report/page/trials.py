"""Section Trials: every attempt, in the order measured, and what speaks against it."""

from __future__ import annotations

from typing import Any

from steelyard.report.page.render import filled
from steelyard.report.page.section import Page, Part, Section
from steelyard.report.sentences.charts import order_note
from steelyard.report.sentences.failures import failed_lines
from steelyard.report.tables.responses import failed_table, steadiness_table
from steelyard.report.tables.trials import trial_table
from steelyard.report.view import lines, tables


def trials(page: Page) -> Section | None:
    """``None`` before the first attempt."""
    run = page.run
    if not run.attempts:
        return None
    body = filled(
        "sections/trials.html.j2",
        run,
        parts=[_part(part) for part in page.parts],
        records=page.records,
        failed=failed_table(run),
        failures=lines(run, failed_lines),
        steadiness=tables(run, steadiness_table),
    )
    return Section("trials", "Trials", body, run.stop.trials_done)


def _part(part: Part) -> dict[str, Any]:
    return {
        "name": part.name,
        "prefix": part.prefix,
        "charts": part.charts,
        "note": order_note(part.view),
        "table": trial_table(part.view),
    }
