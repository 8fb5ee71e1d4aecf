"""Runs the checks of a platform, one after another, each with a deadline."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeoutError

from steelyard.engine.agent import AgentRefusal
from steelyard.errors import EngineError
from steelyard.hosts.failures import SystemFailure
from steelyard.systems.conformance.bench import Bench
from steelyard.systems.conformance.checks import CHECKS
from steelyard.systems.conformance.finding import Broken, Finding, NotApplicable

LONGEST_CHECK_S = 300.0
FIRST = "up"


def sit(bench: Bench, names: Iterable[str] = tuple(CHECKS)) -> Iterator[Finding]:
    """A finding for each check, as it comes.

    One that does not end is the last; so is ``up`` when it fails, as the rest would say the same.
    """
    pool = ThreadPoolExecutor(1)
    try:
        for name in names:
            try:
                finding = pool.submit(_finding, name, bench).result(LONGEST_CHECK_S)
            except FutureTimeoutError:
                yield Finding(name, "bad", f"it has not ended in {LONGEST_CHECK_S:g} s")
                return
            yield finding
            if name == FIRST and finding.grade == "bad":
                return
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _finding(name: str, bench: Bench) -> Finding:
    try:
        return Finding(name, "good", CHECKS[name](bench))
    except NotApplicable as reason:
        return Finding(name, "note", str(reason))
    except Broken as broken:
        return Finding(name, "bad", str(broken))
    except SystemFailure as failure:
        words = f"{failure.kind}: {failure.message}"
        return Finding(name, "bad", f"{words} ({failure.hint})" if failure.hint else words)
    except AgentRefusal as refusal:
        return Finding(name, "bad", f"{refusal.failure.kind}: {refusal.failure.message}")
    except EngineError as error:
        return Finding(name, "bad", error.message)
