"""docs/methods/injected-faults.md, from what a run of the bench kept."""

from __future__ import annotations

from collections import Counter
from math import sqrt
from typing import Any

_HEAD = """\
# Injected faults, and causes named

Written by `make bench-faults WRITE=1` from [{name}](../../bench/runs/{name}).

**Faults.** A study of two equal systems, by the command line, with real agents and the engine's
own servers, {trials} trials each, in a network and a mount namespace of its own. While a trial of
the second system runs, and only then, the fault is there; nothing else knows of it. *Caught*: one
of the kinds that name it is a warning of more trials of that system than of the other (Fisher's
exact test, 5 %), is what the judge says of the machine and would withhold a verdict for, or is the
outcome of its trials. *Verdict*: one of the two was called faster. Without a fault, *caught* is a
false alarm: any of these kinds.

**Causes.** A system that is built to be limited by one resource, {causes} trials; the bottleneck
that most of them name is the one that the cell has. *Behind another*: most of them name the right
one as well, as the machine was short of something else besides. *None* is none named, which is no
wrong name.

Intervals are Wilson's, at 95 %.

"""


_BUSY = """

**Other work used all processors meanwhile.** They were then short whatever else limited a system,
and a hog took little more from one system than the others took from both: on such a machine these
rows say little of an idle one."""


def whole(document: dict[str, Any], name: str) -> str:
    """The page."""
    head = _HEAD.format(name=name, trials=document["trials"], causes=document["cause_trials"])
    measured = [head + _conditions(document), faults(document), *_left_out(document)]
    return "\n\n".join([*measured, causes(document), _limits(document)]) + "\n"


def _left_out(document: dict[str, Any]) -> list[str]:
    """Studies that were measured and taken out by hand, each with its reason."""
    reasons = document.get("left_out", ())
    rows = "\n".join(f"- {reason}" for reason in reasons)
    return (
        [f"Measured, taken out of this table by hand, and measured again:\n\n{rows}"]
        if rows
        else []
    )


def _conditions(document: dict[str, Any]) -> str:
    machine = ", ".join(f"{name} {value}" for name, value in document["machine"].items())
    first, last = document["load_average"]
    busy = _BUSY if min(first, last) > document["machine"]["cores"] else ""
    return (
        f"{document['began']}, {document['took_s'] / 60:.0f} minutes, load average {first:.1f} at "
        f"the start and {last:.1f} at the end; {machine}.{busy}"
    )


def faults(document: dict[str, Any]) -> str:
    """Every fault with its counts; those without a fault last."""
    rows = [
        "| fault | studies | caught | verdict | named by |",
        "|---|---:|---|---|---|",
    ]
    for words in dict.fromkeys(case["fault"] for case in document["faults"]):
        cases = [case for case in document["faults"] if case["fault"] == words]
        caught = sum(bool(case["caught_by"]) for case in cases)
        told = sum(bool(case["told"]) for case in cases)
        rows.append(
            f"| {words} | {len(cases)} | {share(caught, len(cases))} | {share(told, len(cases))} "
            f"| {_named_by(cases)} |"
        )
    real = [case for case in document["faults"] if case["real"]]
    caught = sum(bool(case["caught_by"]) for case in real)
    told = sum(bool(case["told"]) for case in real)
    if real:
        shares = f"{share(caught, len(real))} | {share(told, len(real))}"
        rows.append(f"| all faults | {len(real)} | {shares} | |")
    return "\n".join(rows)


def _named_by(cases: list[dict[str, Any]]) -> str:
    counts = Counter(by for case in cases for by in case["caught_by"])
    return ", ".join(f"{by} ({count})" for by, count in counts.most_common())


def causes(document: dict[str, Any]) -> str:
    """Every cause with what was named."""
    rows = [
        "| limited by | how | systems | named right | named behind another | named |",
        "|---|---|---:|---|---:|---|",
    ]
    for words in dict.fromkeys(case["cause"] for case in document["causes"]):
        cases = [case for case in document["causes"] if case["cause"] == words]
        right = sum(case["named"] in case["right"] for case in cases)
        behind = sum(_is_behind(case) for case in cases)
        names = Counter(case["named"] or "none" for case in cases)
        named = ", ".join(f"{name} ({count})" for name, count in names.most_common())
        rows.append(
            f"| {words} | {cases[0]['how']} | {len(cases)} | {share(right, len(cases))} | {behind} "
            f"| {named} |"
        )
    return "\n".join(rows)


def _is_behind(case: dict[str, Any]) -> bool:
    """Whether most of its trials name another resource first, and the right one as well."""
    if case["named"] in case["right"]:
        return False
    named = sum(case.get("also", {}).get(name, 0) for name in case["right"])
    return bool(2 * named > sum(case["bottlenecks"].values()))


def share(count: int, of: int) -> str:
    """``5 (57 to 100 %)``."""
    if not of:
        return "none run"
    low, high = wilson(count, of)
    return f"{count} ({low:.0%} to {high:.0%})".replace("%", " %").replace(" % to", " to")


def wilson(count: int, of: int, deviations: float = 1.959964) -> tuple[float, float]:
    """The score interval of a share."""
    ratio, squared = count / of, deviations**2
    middle = (ratio + squared / (2 * of)) / (1 + squared / of)
    spread = sqrt(ratio * (1 - ratio) / of + squared / (4 * of**2))
    reach = deviations * spread / (1 + squared / of)
    return max(0.0, middle - reach), min(1.0, middle + reach)


_NOT_SHOWN = """\
- **A link that is throttled beyond the machine** without a loss, by a shaper on its way, sends
  nothing again and leaves no trace in the queues of the machines: neither warning nor bottleneck
  can tell it from a slow server. Such a link in front of one system alone makes a wrong verdict.
- **A lock** is seen by the futex that threads wait in. One of a program without threads (an event
  loop), and a queue inside the service, leave every resource that is sampled unused: no bottleneck
  is named. A queue of connections that wait to be accepted is seen.
- **A generator on another machine** that is saturated, and **a guest** that is held back from
  below: this machine emulates guests only, and a second one was not there. The quota from outside
  is set on a native system.
- **A system whose own memory runs short** and is read back (`swapped`) withholds nothing: it may
  be what the systems differ in."""


def _limits(document: dict[str, Any]) -> str:
    stand_ins = [f"- **{words}**: {how}." for words, how in document["stand_ins"].items()]
    lost = [
        f"- {case['fault']}: a study ended with exit code {case['exit_code']} after "
        f"{case['trials']} trials."
        for case in document["faults"]
        if case["exit_code"] not in (0, 3)
    ]
    run = {case.get("fault") or case["cause"] for case in document["faults"] + document["causes"]}
    not_run = [kind for kind in document["kinds"] if kind not in run]
    missing = [f"- Not run, as the time was over: {', '.join(not_run)}."] if not_run else []
    return "## What this does not show\n\n" + "\n".join(
        [*stand_ins, _NOT_SHOWN, *dict.fromkeys(lost), *missing]
    )
