"""A screening from its study file to its report, with the real engine."""

from __future__ import annotations

import json
import shutil

from steelyard.judge.analyses.factors.findings import EffectFinding, EffectWord
from steelyard.judge.findings import RunFindings
from steelyard.records.archive import Run, open_run
from tests.integration.conftest import SEEDS, Steelyard

STUDY = """
study: delayed
question: Does a server that waits answer less?
systems:
  server: {platform: native, service: {use: sink-http}}
workload: {use: http}
screen:
  system: server
  factors:
    service.delay: [0 s, 20 ms]
    load.users: [1, 4]
  hard_to_change: [service.delay]
responses: {throughput: {primary: true}}
generator: {calibrate: false}
trials: {margin: 50 %, window: 400 ms, warmup: 0 s, drain: 100 ms, budget: {trials: 7 per cell}}
"""


def screened(steelyard: Steelyard, seed: str) -> Run:
    done = steelyard.run("run", "screen.yaml", "--seed", seed)
    assert done.returncode == 0, done.stderr
    assert "service.delay" in done.stdout
    return open_run(steelyard.folder / "results" / "delayed")


def effect_of_the_delay(run: Run) -> EffectFinding:
    document = (run.report_path / "findings.json").read_text(encoding="utf-8")
    (own,) = RunFindings.model_validate(json.loads(document)).workloads
    (found,) = own.influence
    return next(each for each in found.effects if each.factors == ("service.delay",))


def test_a_delay_is_what_matters_and_a_screening_that_has_stopped_is_not_measured_again(
    steelyard: Steelyard,
) -> None:
    """On a busy machine a server may stand still for a whole window, which leaves nothing to judge,
    and the noise may leave the effect open: only then another study is run.
    """
    steelyard.folder.joinpath("screen.yaml").write_text(STUDY, encoding="utf-8")
    for seed in SEEDS:
        run = screened(steelyard, seed)
        delay = effect_of_the_delay(run)
        if delay.word is EffectWord.INFLUENTIAL:
            break
        assert delay.word in {EffectWord.NOT_JUDGED, EffectWord.OPEN}
        shutil.rmtree(steelyard.folder / "results")
    assert delay.word is EffectWord.INFLUENTIAL
    assert delay.unit == "visit"
    assert delay.high_log is not None
    assert delay.high_log < -1
    for record in run.records():
        assert record.facts["system"]["service.use"] == "sink-http"

    before = len(run.records())
    again = steelyard.run("resume", "results/delayed")
    assert again.returncode == 0, again.stderr
    assert len(run.records()) == before
