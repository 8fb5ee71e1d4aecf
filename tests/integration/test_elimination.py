"""Three systems in a real session: who is decided leaves, and a resumed session knows it."""

from __future__ import annotations

import signal
import subprocess
import time

import pytest

from steelyard.records.archive import Run, open_run
from steelyard.records.events import SystemsEliminated, SystemStopped
from tests.integration.conftest import LONGEST_S, Steelyard, with_an_event

STUDY = """\
study: race
question: Who is slow?
systems:
  one:  {platform: native, service: {use: sink-smtp, store: maildir, sync: none}}
  two:  {platform: native, service: {use: sink-smtp, store: maildir, sync: none}}
  slow: {platform: native, service: {use: sink-smtp, store: maildir, sync: none, delay: 5 ms}}
workload: {use: smtp, body: 1 KiB, recipients: 3}
load: {users: 2}
responses: {throughput: {primary: true}}
claims:
  - {id: slow-is-slow, system: slow, slower_than: two}
  - {id: slow-is-fast, system: slow, faster_than: one}
trials:
  margin: 0.1 %
  window: 100 ms
  warmup: 20 ms
  reset: service
  seed: 4
  budget: {trials: 12 per cell}
sample: {every: 100 ms}
"""


def assert_raced(run: Run) -> None:
    """Every visit was one of the plan, in its order, and of a system that was not dropped yet.

    That the two equal ones are distinguished as well is rare, and is allowed.
    """
    left = [event for event in run.events() if isinstance(event, SystemsEliminated)]
    assert left[0].remaining == ("one", "two")
    of = {visit.visit: visit for visit in run.plan().visits}
    seen = list(dict.fromkeys(record.visit for record in run.records()))
    gone = [
        visit.visit
        for visit in of.values()
        if visit.block >= left[0].block and visit.system == "slow"
    ]
    assert seen == [visit for visit in of if visit <= seen[-1] and visit not in gone]


def test_a_decided_system_is_passed_over_and_the_order_of_the_others_kept(
    steelyard: Steelyard,
) -> None:
    (steelyard.folder / "study.yaml").write_text(STUDY, encoding="utf-8")
    ended: list[subprocess.CompletedProcess[str]] = []

    def run_it(seed: str) -> Run:
        ended.append(steelyard.run("run", ".", "--fail-if", "contradicted", "--seed", seed))
        return open_run(steelyard.folder / "results" / "race")

    assert_raced(with_an_event("systems_eliminated", steelyard, run_it))
    assert ended[-1].returncode == 5, ended[-1].stderr
    assert "slow-is-fast: contradicted" in ended[-1].stdout
    assert "(baseline)" in ended[-1].stdout, "a row a system"


@pytest.mark.extended
def test_an_interrupted_elimination_goes_on_with_those_that_are_in_it(steelyard: Steelyard) -> None:
    (steelyard.folder / "study.yaml").write_text(STUDY, encoding="utf-8")
    results = steelyard.folder / "results" / "race"

    def run_it(seed: str) -> Run:
        process = steelyard.start("run", ".", "--seed", seed)
        while process.poll() is None and not any(results.glob("*/trials/0022-1")):
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=LONGEST_S)
        assert process.returncode == 130, stderr
        done = steelyard.run("resume", "results/race")
        assert done.returncode == 0, done.stderr
        return open_run(results)

    assert_raced(with_an_event("systems_eliminated", steelyard, run_it))


BROKEN = """\
summary: A server that ends as soon as it starts.
speaks: [smtp]
command: ["/bin/false"]
settings: {}
"""


@pytest.mark.extended
def test_a_system_that_fails_every_visit_leaves_and_the_others_go_on(steelyard: Steelyard) -> None:
    broken = "slow: {platform: native, service: {use: ./broken.yaml}}"
    lines = [broken.join(["  ", ""]) if "slow:" in line else line for line in STUDY.splitlines()]
    text = "\n".join(line for line in lines if "claims" not in line and "slow-is" not in line)
    text = text.replace("  seed: 4", "  seed: 4\n  retry: 0")
    (steelyard.folder / "broken.yaml").write_text(BROKEN, encoding="utf-8")
    (steelyard.folder / "study.yaml").write_text(text, encoding="utf-8")
    steelyard.run("run", ".", "--format", "html")
    run = open_run(steelyard.folder / "results" / "race")
    (left,) = [event for event in run.events() if isinstance(event, SystemStopped)]
    assert left.system == "slow"
    visits = {record.visit: record for record in run.records()}
    failed = left.reason.failed_visits
    assert tuple(v for v, record in visits.items() if record.cell.system == "slow") == failed
    for other in ("one", "two"):  # up to 12 each, unless they are decided before
        theirs = [visit for visit, record in visits.items() if record.cell.system == other]
        assert max(theirs) > max(failed)
    report = (run.report_path / "report.html").read_text(encoding="utf-8")
    assert "slow was stopped for futility" in report
