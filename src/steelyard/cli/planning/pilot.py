"""``steelyard plan --timed``: a forecast from two short trials of each system."""

from __future__ import annotations

from pathlib import Path

from steelyard.cli.console import command, tell
from steelyard.cli.session.display import tell_at_once
from steelyard.cli.session.new_run import NOT_FREE, discard, new_run
from steelyard.engine.locate import check_version, find_engine
from steelyard.errors import HostError
from steelyard.plan.budget import retimed
from steelyard.plan.model import Plan
from steelyard.study.model import Study
from steelyard.trial.pilot import Stopwatch, pilot_plan, pilot_study
from steelyard.trial.session import run_session
from steelyard.trial.session_state.interrupt import Interrupt


def timed(path: Path, study: Study, plan: Plan, results: Path) -> Plan:
    """Prepares and measures each system twice, undoes it, and keeps no records.

    Raises:
        HostError: a trial failed, or something is missing that the operator has to fix.
        KeyboardInterrupt: the user asks to stop.
    """
    check_version(find_engine())
    pilot = new_run(path, study, pilot_plan(plan), results)
    tell(f"timing two short trials of each system; `{command('restore', pilot.path)}` undoes")
    watch = Stopwatch(study)
    try:
        reason = run_session(pilot_study(study), pilot, watch, Interrupt(tell_at_once))
    except HostError as error:
        if error.slug in NOT_FREE and not watch.failed:
            discard(pilot)
        raise
    discard(pilot)
    if reason == "interrupted":
        raise KeyboardInterrupt
    for failed in watch.failed:
        raise HostError(
            f"a trial of {failed.system} ended as {failed.outcome}: {failed.message}",
            hint=failed.hint or "fix the cause first: `steelyard run` would fail in the same way",
            slug="timed-trial-failed",
        )
    return retimed(plan, watch.trial_s())
