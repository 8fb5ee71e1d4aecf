"""RunFindings with realistic content: each case is one situation that a report must explain."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from tests.golden.report_findings import (
    CLOSED,
    MARGIN_LOG,
    NO_ROOM,
    P99,
    THROUGHPUT,
    attempt_findings,
    cell_findings,
    changed,
    findings,
    per_condition,
    ranking,
    verdict,
)
from tests.golden.screened import influence

from steelyard.inference.sequential import VerdictWord
from steelyard.judge.analyses.claims.findings import ClaimFamily, ClaimFinding, ClaimPartFinding
from steelyard.judge.analyses.failures.findings import FailureContrastFinding, FailureFinding
from steelyard.judge.analyses.scaling.findings import NoPeak
from steelyard.judge.comparisons.families import Family
from steelyard.judge.comparisons.forecast import VisitsForecast
from steelyard.judge.findings import RunFindings, StopFinding, WarningNote
from steelyard.judge.kinds.verdict_notes import (
    GuardrailFinding,
    GuardrailsOpen,
    NoVariation,
    NoVisits,
    SpreadsDiffer,
    TooFewVisits,
    ValueUnusable,
)
from steelyard.judge.validity.findings import DifferenceFinding
from steelyard.plan.model import Cell
from steelyard.records.warnings import Figures, WarningKind
from steelyard.study.model import Level


def _mixed() -> RunFindings:
    """Equivalent, undecided with a forecast, not judged and faster below the margin, at once."""
    both = (VerdictWord.FASTER, VerdictWord.EQUIVALENT)
    verdicts = (
        verdict(
            "undecided",
            1.1,
            0.0175,
            visits_to_decide=VisitsForecast(least=9, most=31),
            decided_at_visit=None,
        ),
        per_condition("equivalent", -0.4, 0.013, 1),
        per_condition("faster", 0.6, 0.0055, 4, words=both),
        per_condition("not_judged", None, 0, 16, not_judged=(NoVariation(),), n_other=2),
    )
    stop = StopFinding(
        reason="budget_visits", visits_done=28, visits_planned=28, trials_done=84,
        attempts_failed=0, spent_s=240.2,
    )  # fmt: skip
    cells = cell_findings({"fast": 1.0, "durable": 1.004}, {"throughput": (3900.0, 1.0)})
    return findings(verdicts=verdicts, stop=stop, cells=cells, responses=(THROUGHPUT,))


def _failed() -> RunFindings:
    """Failed attempts of two kinds, a warning, a missing cell, arms of different shape."""
    cells = cell_findings(
        {"fast": 1.0, "durable": 0.29},
        {"throughput": (3900.0, 1.0), "response.p99": (9.1e5, -1.1)},
        missing=("durable",),
    )
    good = attempt_findings(cells, "throughput")
    figures: Figures = {"machine": "local", "steal_ratio": 0.014}
    steal = WarningNote(kind=WarningKind.STEAL, state="suspect", figures=figures)
    good[4] = good[4].model_copy(update={"warnings": (steal,)})
    died = [
        good[3].model_copy(
            update={
                "trial": 6, "attempt": n, "visit": 2, "outcome": outcome, "bottleneck": None,
                "cell": Cell(system="durable", conditions={"load.users": 16}), "message": message,
                "hint": hint, "overhead_s": None,
            }
        )
        for n, outcome, message, hint in (
            (1, "service_died", "the sink ended with signal 9 after 1.2 s", "look at sink.log"),
            (2, "service_died", "the sink ended with signal 9 after 0.9 s", "look at sink.log"),
            (3, "disk_full", "no space left on /var/tmp", "free 210 MB or set store: elsewhere"),
        )
    ]  # fmt: skip
    shape: dict[str, Any] = {
        "spread_ratio": 3.1, "stall_rate_other": 0.125,
        "notes": (
            SpreadsDiffer(
                wider="durable", ratio=3.1, chance=0.02, visits_baseline=6, visits_other=6
            ),
        ),
    }  # fmt: skip
    verdicts = (
        verdict("slower", -68.0, 0.2, **shape),
        per_condition("slower", -66.2, 0.1, 1),
        per_condition("slower", -71.3, 0.1, 4),
        per_condition(
            "not_judged", None, 0, 16, n_other=0, not_judged=(NoVisits(system="durable"),)
        ),
    )
    differences = (
        DifferenceFinding(
            fact="service.sync", values={"fast": "none", "durable": "each message"}, declared=True
        ),
        DifferenceFinding(
            fact="disk.scheduler", values={"fast": "none", "durable": "mq-deadline"}, declared=False
        ),
        DifferenceFinding(fact="cpu.governor", values={"fast": "performance", "durable": None},
                          declared=False),
    )  # fmt: skip
    stop = StopFinding(
        reason="failures", visits_done=12, visits_planned=28, trials_done=30,
        attempts_failed=3, spent_s=131.0,
    )  # fmt: skip
    return findings(
        cells=cells, verdicts=verdicts, differences=differences, stop=stop,
        responses=(THROUGHPUT, P99), attempts=tuple(good + died), variant="small",
    )  # fmt: skip


def _huge() -> RunFindings:
    """Effects far beyond percent, one interval end without a bound, a tiny effect near zero."""
    p99 = P99.model_copy(update={"primary": True})
    base: dict[str, Any] = {
        "response": "response.p99",
        "family": Family(response="response time p99", scope="overall"),
    }
    verdicts = (
        verdict("slower", 4100.0, 0.3, **base),
        per_condition("slower", 240.0, 0.09, 1, response="response.p99"),
        per_condition("slower", 88000.0, 0.5, 4, response="response.p99", high_log=None),
        per_condition("faster", -97.0, 0.1, 16, response="response.p99"),
    )
    cells = cell_findings({"fast": 1.0, "durable": 0.025}, {"response.p99": (9.1e5, -1.0)})
    return findings(
        cells=cells, verdicts=verdicts, responses=(p99,),
        attempts=tuple(attempt_findings(cells, "response.p99")),
    )  # fmt: skip


def _plain() -> RunFindings:
    """A study without conditions, an effect so small that one decimal would print as zero."""
    none: tuple[dict[str, Level], ...] = ({},)
    cells = cell_findings({"fast": 1.0, "durable": 1.0007}, {"throughput": (3900.0, 1.0)}, none, 40)
    both = (VerdictWord.FASTER, VerdictWord.EQUIVALENT)
    found = verdict("faster", 0.07, 0.0004, words=both, n_baseline=20, n_other=20)
    return findings(
        cells=cells, verdicts=(found,), conditions=none, responses=(THROUGHPUT,), caveats=(),
        attempts=tuple(attempt_findings(cells, "throughput")), diagnostics=(), differences=(),
    )  # fmt: skip


def _screened() -> RunFindings:
    """Factors of one system, nothing compared: an influential pair, one negligible, one open."""
    cells = cell_findings(
        {"server": 1.0},
        {"throughput": (390.0, 1.0)},
        tuple({"load.users": u, "service.sync": s} for u in (2, 8) for s in ("none", "each")),
        5,
    )
    return findings(
        study="which-settings", question="Which settings matter?", systems=("server",),
        baseline="server", conditions=(), cells=cells, verdicts=(), influence=(influence(),),
        responses=(THROUGHPUT,), attempts=tuple(attempt_findings(cells, "throughput")),
        differences=(), diagnostics=(),
    )  # fmt: skip


def _nothing() -> RunFindings:
    """Interrupted before the first trial ended: every cell empty, nothing judged."""
    full = findings(responses=(THROUGHPUT,))
    empty: dict[str, Any] = {"values": (), "trials": (), "median": None, "low": None, "high": None}
    verdicts = (
        verdict("not_judged", None, n_baseline=0, n_other=0, spread_ratio=None,
                not_judged=(TooFewVisits(visits=0, needed=8),)),
    )  # fmt: skip
    stop = StopFinding(
        reason="interrupted", visits_done=0, visits_planned=28, trials_done=0,
        attempts_failed=0, spent_s=1.2,
    )  # fmt: skip
    cells = tuple(
        c.model_copy(update=empty) for c in full.workloads[0].cells if c.response == "throughput"
    )
    return changed(
        full, cells=cells, verdicts=verdicts, stop=stop, attempts=(), differences=(),
        diagnostics=(),
    )  # fmt: skip


def _claims() -> RunFindings:
    """Claims of every word: of one system, of all but one, of a peak, of nothing measured."""
    level = 1 - 2 * 0.05 / 5

    def part(
        word: str, percent: float | None, half: float, bounds: tuple[Any, Any], **changes: Any
    ) -> ClaimPartFinding:
        log = None if percent is None else math.log1p(percent / 100)
        given: dict[str, Any] = {
            "subject": "durable", "other": "fast", "word": word,
            "claimed_low_log": bounds[0], "claimed_high_log": bounds[1], "estimate_log": log,
            "low_log": None if log is None else log - half,
            "high_log": None if log is None else log + half,
            "interval_level": level, "n_subject": 6, "n_other": 6,
        }  # fmt: skip
        return ClaimPartFinding(**(given | changes))

    def claim(name: str, kind: str, word: str, *parts: ClaimPartFinding, **changes: Any) -> Any:
        given: dict[str, Any] = {
            "id": name, "kind": kind, "response": "throughput", "conditions": {}, "factor": None,
            "word": word, "alpha": 0.05, "family": ClaimFamily(claims=5, parts=1), "parts": parts,
            "subject": "durable",
        }  # fmt: skip
        return ClaimFinding(**(given | changes))

    share, margin = math.log(0.95), MARGIN_LOG
    claims = (
        claim("keeps-up", "at_least", "contradicted",
              part("contradicted", -71.0, 0.07, (share, None)),
              factor=0.95, conditions={"load.users": 16}),
        claim("costs", "slower_than", "supported", part("supported", -71.0, 0.07, (None, 0.0))),
        claim("criterion", "no_worse_than", "undecided",
              part("supported", 0.4, 0.01, (-margin, None), subject="balanced"),
              part("undecided", -1.2, 0.02, (-margin, None), subject="powersave"), subject=None),
        claim("near", "within", "undecided", part("undecided", 2.4, 0.02, (-0.03, 0.03)),
              factor=0.03),
        claim("idle", "equivalent_to", "not_judged",
              part("not_judged", None, 0.0, (-margin, margin), n_subject=0,
                   notes=(ValueUnusable(system="durable", trials=6, value="zero"),))),
        claim("saturates", "peak_users", "supported", claimed_peak=(30.0, 70.0), peak=(41.2, 62.0)),
        claim("higher", "peak_users", "undecided", claimed_peak=(30.0, 70.0), peak=(88.0, None),
              notes=(NoPeak(last_level=128.0),)),
    )  # fmt: skip
    return findings(responses=(THROUGHPUT,), claims=claims)


def _trade_off() -> RunFindings:
    """Faster while failing more; one guardrail not shown yet, and one not measured."""
    errors: dict[str, Any] = {
        "response": "errors", "label": "errors", "unit": "ratio", "margin": 0.001, "absolute": True,
    }  # fmt: skip
    tail: dict[str, Any] = {
        "response": "response.p99", "label": "response time, 99th percentile", "unit": "ns",
        "margin": math.log(1.25), "absolute": False,
    }  # fmt: skip
    failing = GuardrailFinding(**errors, state="broken", effect=0.0213)
    longer = GuardrailFinding(**tail, state="broken", effect=math.log(1.4))
    short = GuardrailFinding(**tail, state="held", effect=-0.2)
    unseen = GuardrailFinding(
        **errors,
        state="not_measured",
        effect=None,
        reason=ValueUnusable(system="durable", trials=3, value="missing"),
    )
    waiting = GuardrailFinding(**tail, state="open", effect=0.1)
    verdicts = (
        verdict("trade_off", 12.0, 0.02, guardrails=(failing, longer), decided_at_visit=12),
        per_condition("trade_off", -9.0, 0.02, 1, guardrails=(failing,), decided_at_visit=12),
        per_condition("faster", 14.0, 0.02, 4, guardrails=(unseen, short)),
        per_condition(
            "undecided", 13.0, 0.02, 16, guardrails=(waiting,),
            withheld=GuardrailsOpen(system="durable", guardrails=(waiting,)),
        ),
    )  # fmt: skip
    failures = (
        FailureFinding(system="fast", operations=1_203_444, failed=0, below=3 / 1_203_444,
                       attempts=38, attempts_failed=0, attempts_invalid=0),
        FailureFinding(system="durable", operations=1_350_120, failed=28_758, below=None,
                       attempts=45, attempts_failed=9, attempts_invalid=2,
                       causes=(NO_ROOM, CLOSED)),
    )  # fmt: skip
    contrasts = (
        FailureContrastFinding(
            baseline="fast", other="durable", word="fails_more", odds_log=math.log(310),
            low_log=math.log(120), high_log=None, interval_level=0.95, attempts_chance=0.0034,
        ),
    )  # fmt: skip
    return findings(
        verdicts=verdicts, responses=(THROUGHPUT,), failures=failures, failure_contrasts=contrasts
    )


def _six() -> RunFindings:
    """Six mail servers, all pairs, one condition: some are decided, two cannot be distinguished."""
    ratios = {"postfix": 0.0, "exim": -12.0, "qmail": 21.0, "courier": -14.5, "smtpd": -13.2,
              "james": -61.0}  # fmt: skip
    systems = tuple(ratios)
    none: tuple[dict[str, Level], ...] = ({},)
    verdicts = []
    for place, one in enumerate(systems):
        for other in systems[place + 1 :]:
            size = 100 * ((100 + ratios[other]) / (100 + ratios[one]) - 1)
            word = "undecided" if abs(size) < 2 else "faster" if size > 0 else "slower"
            verdicts.append(
                verdict(word, size, 0.0175, baseline=one, other=other, n_baseline=20, n_other=20,
                        family=Family(response="throughput", scope="overall", pairs=15),
                        interval_level=0.9967)
            )  # fmt: skip
    cells = cell_findings(
        {name: 1 + ratio / 100 for name, ratio in ratios.items()},
        {"throughput": (900.0, 1.0)}, none, 120,
    )  # fmt: skip
    order = ranking(
        ("qmail", 1, 1, "apart", 21.0), ("postfix", 2, 2, "apart", 0.0),
        ("exim", 3, 4, "open", -12.0), ("smtpd", 3, 5, "open", -13.2),
        ("courier", 4, 5, "apart", -14.5), ("james", 6, 6, None, -61.0),
    )  # fmt: skip
    return findings(
        study="mail-servers", question="Which mail server takes the most mail here?",
        systems=systems, baseline="postfix", cells=cells, verdicts=tuple(verdicts),
        conditions=none, responses=(THROUGHPUT,), differences=(), rankings=(order,),
        attempts=tuple(attempt_findings(cells, "throughput")),
    )  # fmt: skip


def _three() -> RunFindings:
    """Three systems with names that no file format likes."""
    odd, second = "<script>alert(1)</script>", 'kvm | virtio, "cache=none"'
    systems = ("native", odd, second)
    cells = cell_findings(
        dict.fromkeys(systems, 0.9) | {"native": 1.0}, {"throughput": (812.0, 1.0)}
    )
    base: dict[str, Any] = {
        "baseline": "native",
        "family": Family(response="throughput", scope="overall", pairs=2, baseline="native"),
    }
    verdicts = (
        verdict("slower", -10.0, 0.04, other=odd, **base),
        verdict("equivalent", 0.3, 0.012, other=second, **base),
        per_condition("slower", -12.0, 0.05, 1, other=odd, baseline="native"),
        per_condition("undecided", -1.4, 0.03, 1, other=second, baseline="native"),
    )
    return findings(
        rankings=(
            ranking(
                ("native", 1, 2, "equivalent", 0.0),
                (second, 1, 2, "apart", 0.3),
                (odd, 3, 3, None, -10.0),
            ),
        ),
        study="mail-under-hypervisors", question="Does <b>mail</b> do best on a physical machine?",
        systems=systems, baseline="native", cells=cells, verdicts=verdicts, responses=(THROUGHPUT,),
        attempts=tuple(attempt_findings(cells, "throughput")), differences=(),
    )  # fmt: skip


CASES: dict[str, Callable[[], RunFindings]] = {
    "decided": findings,
    "mixed": _mixed,
    "failed": _failed,
    "huge": _huge,
    "plain": _plain,
    "three": _three,
    "claims": _claims,
    "six": _six,
    "trade-off": _trade_off,
    "nothing": _nothing,
    "screened": _screened,
}
