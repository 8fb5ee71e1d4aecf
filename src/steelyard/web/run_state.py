"""How a run stands, from the end of its ledger, without reading the rest of it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from steelyard.errors import RecordError
from steelyard.records.events import InterimComparison, InterimLook
from steelyard.web.looks import Identity, identity, with_size
from steelyard.web.reading import MOST_FILE_BYTES, read_bounded, read_tail

TAIL_BYTES = 64 * 1024
SIZES_BYTES = 1024 * 1024
"""How far back a size is looked for that the newest look does not give."""
_WANTED = (b'"session_', b'"attempt_', b'"interim_look"')
_LOCKS = Path("/proc/locks")
_NOT_DECIDED = {"undecided", "not_judged"}
_LOOK: TypeAdapter[InterimLook] = TypeAdapter(InterimLook)


@dataclass(frozen=True)
class RunState:
    """``ended`` is why the last session ended, ``None`` while one is open or was killed.

    ``failed``: an error ended it. ``lead`` is the comparison that stands for the run on the list:
    over all conditions where there is one, with the last size that a look gave. ``words`` are those
    of all comparisons, each once.
    """

    ended: str | None = None
    visits: int | None = None
    decided: int = 0
    open: int = 0
    lead: InterimComparison | None = None
    words: tuple[str, ...] = ()


def state_of(ledger: Path) -> RunState:
    """From the last lines; what cannot be read there is not known.

    Raises:
        OSError: the ledger cannot be read. A run without one has not begun.
    """
    try:
        tail = read_tail(ledger, TAIL_BYTES)
    except FileNotFoundError:
        return RunState()
    ended, closed, look = None, False, None
    for event in _events_backwards(tail):
        kind = event.get("event")
        if kind == "session_closed" and not closed:
            ended, closed = str(event.get("reason") or "error"), True
        elif kind in {"session_opened", "attempt_started", "attempt_finished"}:
            closed = True
        elif kind == "interim_look" and look is None:
            look = _look(event)
        if closed and look is not None:
            break
    if look is None:
        return RunState(ended)
    sizes = _sizes(tail, look) or _sizes(read_tail(ledger, SIZES_BYTES), look)
    comparisons = tuple(with_size(each, sizes) for each in look.comparisons)
    return _with_comparisons(ended, look.visits_done, comparisons)


def _sizes(tail: bytes, newest: InterimLook) -> dict[Identity, InterimComparison]:
    """The last size of each comparison of the newest look, from as many looks as that takes."""
    wanted = {identity(each) for each in newest.comparisons}
    found: dict[Identity, InterimComparison] = {}
    for event in _events_backwards(tail, (b'"interim_look"',)):
        look = _look(event)
        for each in look.comparisons if look else ():
            if each.estimate_log is not None and identity(each) in wanted:
                found.setdefault(identity(each), each)
        if len(found) == len(wanted):
            break
    return found


def state_of_import(findings: Path) -> RunState:
    """Of what another tool measured: verdicts and words of its report, where that has findings."""
    try:
        workloads = json.loads(read_bounded(findings, MOST_FILE_BYTES))["workloads"]
        judged = [
            (workload, each)
            for workload in workloads
            for each in workload["verdicts"]
            if not each["exploratory"]
        ]
        words = tuple(dict.fromkeys(str(each["word"]) for _, each in judged))
    except (OSError, RecordError, ValueError, TypeError, KeyError):
        return RunState("imported")
    try:
        several = len(workloads) > 1
        each = tuple(_judged(own, of, several=several) for of, own in judged if _primary(of, own))
    except (ValueError, TypeError, KeyError):
        each = ()
    return replace(_with_comparisons("imported", None, each), words=words)


def with_verdict(state: RunState, findings: Path) -> RunState:
    """Of a run of several machines, with what its report says of all of them; no ledger has it."""
    found = state_of_import(findings)
    if found.lead is None or found.lead.conditions is not None:
        return state
    return replace(found, ended=state.ended, visits=state.visits)


def _primary(workload: dict[str, Any], verdict: dict[str, Any]) -> bool:
    named = (one for one in workload["responses"] if one["name"] == verdict["response"])
    return any(one["primary"] for one in named)


def _judged(
    verdict: dict[str, Any], workload: dict[str, Any], *, several: bool
) -> InterimComparison:
    """A verdict as a look would say it; the interval is the one that belongs to its word."""
    names = ("baseline", "other", "conditions", "word", "margin_log", "n_baseline", "n_other",
             "estimate_log")  # fmt: skip
    of = "equivalence_" if verdict["word"] == "equivalent" else ""
    return InterimComparison.model_validate({
        **{name: verdict[name] for name in names},
        "workload": workload["name"] if several else None,
        "low_log": verdict[f"{of}low_log"],
        "high_log": verdict[f"{of}high_log"],
    })  # fmt: skip


def together(states: Iterable[RunState]) -> RunState:
    """Of the machines of a run: ended when all have, and for the first reason that is no verdict.

    None of their comparisons stands for the run; ``with_verdict`` has the one that does.
    """
    each = list(states)
    if len(each) == 1:
        return each[0]
    reasons = [state.ended for state in each]
    other = next((why for why in reasons if why != "decided"), "decided")
    visits = [state.visits for state in each if state.visits is not None]
    return RunState(
        ended=None if None in reasons else other,
        visits=sum(visits) if visits else None,
        decided=sum(state.decided for state in each),
        open=sum(state.open for state in each),
        words=tuple(dict.fromkeys(word for state in each for word in state.words)),
    )


def _with_comparisons(
    ended: str | None, visits: int | None, each: tuple[InterimComparison, ...]
) -> RunState:
    open_still = sum(one.word in _NOT_DECIDED for one in each)
    whole = [one for one in each if one.conditions is None]
    lead = next(iter([*whole, *each]), None)
    words = tuple(dict.fromkeys(one.word for one in each))
    return RunState(ended, visits, len(each) - open_still, open_still, lead, words)


def _events_backwards(tail: bytes, wanted: tuple[bytes, ...] = _WANTED) -> Iterator[dict[str, Any]]:
    """Those that say how a run stands; other lines are not parsed."""
    for line in reversed(tail.splitlines()):
        if any(name in line[:64] for name in wanted):
            try:
                event = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(event, dict):
                yield event


def _look(event: dict[str, Any]) -> InterimLook | None:
    try:
        return _LOOK.validate_python({k: v for k, v in event.items() if k != "crc32"})
    except ValidationError:
        return None


def locked_inodes() -> frozenset[int]:
    """Of the files that a process of this machine holds a lock on; a controller holds its ledger's.

    It takes no lock: a controller that asks for it at that moment would be refused.
    """
    try:
        lines = _LOCKS.read_text(encoding="ascii").splitlines()
    except (OSError, ValueError):
        return frozenset()
    places = (word for line in lines for word in line.split() if word.count(":") == 2)
    return frozenset(int(place.rpartition(":")[2]) for place in places if place[-1].isdigit())
