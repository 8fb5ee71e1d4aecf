"""RunFindings depend on study, plan and records alone: not on order, threads or earlier studies."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import Context

import pytest
from tests.unit.judge import several_workloads
from tests.unit.judge.quick import judge_study, look
from tests.unit.judge.studies import a_study, measured, noisy

from steelyard.judge.findings import RunFindings
from steelyard.plan.make import make_plan


def of_sizes() -> RunFindings:
    study = a_study(per_cell=8).model_copy(update={"factors": {"workload.body": (4096, 65536)}})
    plan = make_plan(study, 3)
    return judge_study(study, plan, measured(plan, noisy(0.9)), run="r")


def of_users() -> RunFindings:
    study = a_study(users=(1,), per_cell=8)
    plan = make_plan(study, 3)
    records = measured(plan, noisy(0.98, noise=0.02))
    for visits in (8, 10, 16):
        look(study, plan, records[:visits])
    return judge_study(study, plan, records, run="r")


STUDIES: tuple[Callable[[], RunFindings], ...] = (of_sizes, of_users, several_workloads.judged)


@pytest.mark.parametrize("study", STUDIES)
def test_a_study_judged_twice_is_judged_the_same_whatever_came_between(
    study: Callable[[], RunFindings],
) -> None:
    first = study()
    for other in STUDIES:
        other()
    assert study() == first


def test_studies_judged_at_once_in_threads_are_judged_as_alone() -> None:
    alone = [study() for study in STUDIES]
    with ThreadPoolExecutor(len(STUDIES)) as threads:
        backwards = [threads.submit(Context().run, study) for study in reversed(STUDIES)]
        together = [each.result() for each in reversed(backwards)]
    assert together == alone
