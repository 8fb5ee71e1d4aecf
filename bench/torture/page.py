"""docs/methods/reliability.md, from what a run of the torture kept."""

from __future__ import annotations

from collections import Counter
from typing import Any

from bench.torture.messages import KILL_AGENT

WRONG = ("lost", "repeated", "stuck", "left", "defect")
_OF_A_SESSION = ("began", "took_s", "seed", "machine", "load_average")
_HEAD = """\
# Reliability: what was done to runs, and what became of them

Written by `make torture WRITE=1` from [{name}](../../bench/runs/{name}).

A **case** is a run of twelve trials (in later sessions of eight in containers, in guests and with
disks) that meets one fault: between its beginning and its first trial, or in a session that goes on
with it and measures its last two. `steelyard restore` follows in every other case, then `steelyard
resume`, then a comparison. It fails when a finished trial is *lost* or changed, a trial is
*repeated*, the run is *stuck* (`restore` or `resume` ends badly), something is *left* (a process, a
folder, a setting, a mount, a loop device, a container), or a *defect* shows (a traceback, an exit
code that is not documented).

A **step** is a call with which the controller opens, writes, syncs, cuts, names or removes
something below its results. The fault happens in its place, in the controller's own process and for
real: half of the bytes of a *short write* are in the file, and what is written next fails. *From
here on* means that every further step fails as well until the session has ended. Kills of *any
process* happen at a random time: of the controller, an agent, a service, or what a platform has
started. *The agent at a message* is killed when the controller has just sent it one, so that what
it was asked for may be done, half done, or not begun; its steps are the messages to all agents in a
session that goes on with a run and measures its last two trials. After a *power cut* everything
that was not synced is gone: the results are on an ext4 of their own, whose journal only a sync
commits; while all processes of the case are stopped, what has reached the disk is copied; they are
killed, and the copy is mounted in its place. *Tried* are steps in random order, as many as there
was time for; a fault is *met* when it did happen.

"""


def whole(document: dict[str, Any], name: str) -> str:
    """The page."""
    return (
        _HEAD.format(name=name)
        + f"{_conditions(document)}\n\n"
        + table(document)
        + f"\n\n{_failures(document)}\n\n{_limits(document)}\n"
    )


def together(earlier: dict[str, Any], later: dict[str, Any]) -> dict[str, Any]:
    """Both as one; the conditions of each are kept."""
    session = {name: earlier[name] for name in _OF_A_SESSION}
    skipped = earlier["skipped"].keys() & later["skipped"].keys()
    return later | {
        "earlier": [*earlier.get("earlier", ()), session],
        "steps": earlier["steps"] | later["steps"],
        "messages": earlier.get("messages", {}) | later["messages"],
        "skipped": {name: why for name, why in later["skipped"].items() if name in skipped},
        "cases": earlier["cases"] + later["cases"],
        "left_out": [*earlier.get("left_out", ()), *later.get("left_out", ())],
    }


def table(document: dict[str, Any]) -> str:
    """Every figure: of each platform and fault."""
    rows = [
        "| platform | fault | steps | tried | met | " + " | ".join(WRONG) + " |",
        "|" + "---|" * (5 + len(WRONG)),
    ]
    cases = document["cases"]
    for platform, fault in dict.fromkeys((c["platform"], c["fault"]) for c in _sorted(cases)):
        own = [c for c in cases if (c["platform"], c["fault"]) == (platform, fault)]
        counted = document["messages" if fault == KILL_AGENT else "steps"]
        steps = "" if "any process" in fault else str(counted[platform])
        rows.append(f"| {platform} | {fault} | {steps} | {_counts(own)} |")
    rows.append(f"| all | | | {_counts(cases)} |")
    return "\n".join(rows)


def _sorted(cases: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(cases, key=lambda case: (case["platform"], case["fault"]))


def _counts(cases: list[dict[str, Any]]) -> str:
    wrong = Counter(kind for case in cases for kind in case["wrong"])
    figures = [len(cases), sum(bool(case["met"]) for case in cases), *(wrong[k] for k in WRONG)]
    return " | ".join(map(str, figures))


def _conditions(document: dict[str, Any]) -> str:
    sessions = [*document.get("earlier", ()), document]
    if len(sessions) == 1:
        return _session(document)
    said = "Measured in several sessions, each with the version of its day; steps are those of the"
    return "\n".join([f"{said} last.\n", *(f"- {_session(each)}" for each in sessions)])


def _session(session: dict[str, Any]) -> str:
    where = ", ".join(f"{name} {value}" for name, value in session["machine"].items())
    return (
        f"{session['began']}, {session['took_s'] / 60:.0f} minutes, seed {session['seed']}, load "
        f"average {session['load_average']:.1f}; {where}."
    )


def _failures(document: dict[str, Any]) -> str:
    count = len(document["cases"])
    failed = [case for case in document["cases"] if case["wrong"]]
    lines = [
        f"- {case['platform']}, {case['fault']} at {case['at']:g} ({case['met']}): "
        + "; ".join(f"{kind}: {why}" for kind, why in case["wrong"].items())
        for case in failed
    ]
    found = [f"{len(failed)} of {count} cases failed:", "", *lines]
    reasons = [f"- {reason}" for reason in document.get("left_out", ())]
    taken = "Cases that failed, or met nothing, and are not in the table, with their causes:"
    again = ["", taken, "", *reasons]
    told = found if failed else [f"None of the {count} cases in the table failed."]
    return "\n".join(told + again * bool(reasons))


def _limits(document: dict[str, Any]) -> str:
    lines = [
        "## What this does not show",
        "",
        "- Faults are those of the controller's own calls. Files that agents write for a trial are",
        "  removed with it.",
        "- Guests meet `kill -9` of the controller and of the agent at every step; the other",
        "  faults are not tried on them, as each case takes a boot.",
    ]
    lines += [f"- {name}: not run here ({why})." for name, why in document["skipped"].items()]
    return "\n".join(lines)
