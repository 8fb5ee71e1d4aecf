"""Section Trials: every attempt, in the order measured, and what speaks against it."""

from __future__ import annotations

from steelyard.report.page.render import filled
from steelyard.report.page.section import Page, Section
from steelyard.report.sentences.failures import failed_lines
from steelyard.report.tables.responses import attempt_table, failed_table, steadiness_table
from steelyard.report.view import lines, tables


def trials(page: Page) -> Section | None:
    """``None`` before the first attempt."""
    run = page.run
    if not run.attempts:
        return None
    body = filled(
        "sections/trials.html.j2",
        run,
        parts=page.parts,
        attempts=attempt_table(run),
        failed=failed_table(run),
        failures=lines(run, failed_lines),
        steadiness=tables(run, steadiness_table),
    )
    return Section("trials", "Trials", body, run.stop.trials_done)
