"""Whether every system that is still to be measured can come up, asked before the first trial."""

from __future__ import annotations

from collections.abc import Iterable

from steelyard.engine.agent import AgentRefusal
from steelyard.errors import EngineError
from steelyard.hosts.failures import SystemFailure
from steelyard.plan.model import Cell
from steelyard.study.bind import bind
from steelyard.systems.preflight import looked_at, refuse_what_cannot_come_up
from steelyard.trial.attempt.outcomes import as_host_error
from steelyard.trial.session_state.context import SessionContext


def refuse_what_cannot_start(session: SessionContext, cells: Iterable[Cell]) -> None:
    """Each system once, and once more for every level that another image or accelerator is for.

    A machine that cannot be reached now may be reached later: its trials tell.

    Raises:
        HostError: something is missing that the operator has to fix.
        StudyError: the recipe of an image has mistakes.
    """
    specs = [bind(session.study, cell).system for cell in cells]
    for spec in {looked_at(spec): spec for spec in specs}.values():
        session.interrupt.check()
        try:
            refuse_what_cannot_come_up(spec, session.machines.at(spec.host_machine))
        except (AgentRefusal, EngineError):
            continue
        except SystemFailure as failure:
            if failure.for_operator:
                raise as_host_error(failure) from failure
