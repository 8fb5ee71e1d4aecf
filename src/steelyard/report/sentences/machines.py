"""Several machines in sentences: what depends on the machine, and what is said of others."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.inference.sequential import VerdictWord
from steelyard.judge.machines.findings import (
    MachineEffect,
    MachinesFinding,
    OtherMachines,
)
from steelyard.report.effects import interval, percent_of, signed_effect
from steelyard.report.figures import counted, listed, percent
from steelyard.report.view import View
from steelyard.report.vocabulary import response_of, said_word

_MEAN = (
    "On all of these machines: the mean of their effects, each with the same weight. If the ratio "
    "is the same on all of them the test is exact, as the order of each is drawn again by itself; "
    "where it differs, the Welch test of the mean holds the error rate."
)
_SAMPLE = (
    "On others like them: Student's test of one effect for each machine, if these machines were "
    "chosen at random from such machines and effects spread normally among them."
)


def machines_lines(found: MachinesFinding, view: View) -> list[str]:
    """Beside the verdicts of one pair: interaction of machine and system, and other machines."""
    withheld = [] if found.withheld_on is None else [_withheld(found)]
    return [*withheld, _interaction(found, view), _others(found, view)]


def machine_lines(view: View) -> list[str]:
    """What is said of several machines beside the verdicts on the primary response."""
    primary = [each.name for each in view.own.responses if each.primary]
    own = [each for each in view.own.machines if each.response in primary]
    return [line for each in own for line in machines_lines(each, view)]


def resting_on_machines(found: Sequence[MachinesFinding]) -> list[str]:
    """What these answers rest on."""
    if not found:
        return []
    return [_MEAN, *([_SAMPLE] if any(each.others is not None for each in found) else [])]


def _withheld(found: MachinesFinding) -> str:
    return (
        f"The verdict on all of these machines is withheld for what is seen on {found.withheld_on}."
    )


def _interaction(found: MachinesFinding, view: View) -> str:
    pair = f"{found.other} against {found.baseline}{_at(found, view)}"
    level = f"intervals hold together at {percent(1 - found.alpha)}"
    if found.interaction == "alike":
        margin = f"{percent_of(found.margin_log):.3g} %"
        return (
            f"{pair}: no machine differs from the mean of all by the margin of {margin}; {level}."
        )
    if found.interaction == "differs":
        beyond = [each for each in found.effects if _excludes_zero(each)]
        return f"{pair} depends on the machine: beside the mean of all, {_each(beyond)}; {level}."
    return (
        f"{pair}: whether it depends on the machine is open: beside the mean of all, "
        f"{_each(found.effects)}; {level}."
    )


def _at(found: MachinesFinding, view: View) -> str:
    where = view.run.labels.conditions(found.conditions or {})
    return f" at {where}" if where else ""


def _each(effects: Sequence[MachineEffect]) -> str:
    return listed([f"{_size(each)} on {each.machine}" for each in effects])


def _size(each: MachineEffect) -> str:
    ends = interval(each.low_log, each.high_log, estimate_log=each.deviation_log, direction=None)
    beside = (each.low_log, each.high_log)
    return f"{signed_effect(each.deviation_log, beside=beside)} ({ends})"


def _excludes_zero(each: MachineEffect) -> bool:
    low, high = each.low_log, each.high_log
    return (low is not None and low > 0) or (high is not None and high < 0)


def _others(found: MachinesFinding, view: View) -> str:
    if found.others is None:
        count = counted(len(found.machines), "machine")
        return (
            f"On others like them: nothing is said. {count} do not show how far machines differ; "
            f"it takes {found.least_machines}."
        )
    others, inner = found.others, found.others.word is VerdictWord.EQUIVALENT
    response = response_of(view, found.response)
    word = said_word(others.word, others.mean_log, response)
    low, high = (
        (others.equivalence_low_log, others.equivalence_high_log)
        if inner
        else (others.low_log, others.high_log)
    )
    level = percent(1 - (2 if inner else 1) * found.alpha)
    ends = interval(low, high, estimate_log=others.mean_log, direction=None)
    size = signed_effect(others.mean_log, beside=(low, high))
    return (
        f"On others like them{_at(found, view)}: {found.other} against {found.baseline} {word} on "
        f"average, {size} "
        f"({level} interval {ends}); on one more of them {_further(others)}."
    )


def _further(others: OtherMachines) -> str:
    low, high = others.further_low_log, others.further_high_log
    return interval(low, high, estimate_log=others.mean_log, direction=None)
