"""Sections of the page that rest on real trials or on whole programs: G6, G13, G14."""

from __future__ import annotations

from collections.abc import Iterator

from tests.calibration.goals import (
    Standing,
    Told,
    of_rate,
    of_share,
    rate_text,
    sizes_text,
    together,
)
from tests.calibration.mutations import MUTATIONS
from tests.calibration.noises import BANKS
from tests.calibration.rivals import RIVALS
from tests.calibration.sections_errors import MOST_FALSE
from tests.calibration.store import Result, Store

from steelyard.traces.bank import read_bank

BANKS_WANTED = 4
_LEAST = 25
_NAMED = 0.95
_REACHED = Standing.REACHED


def banks(store: Store) -> Told:
    """G6."""
    equal = [each for each in store.all() if not each.cell.startswith(("stops: ", "rivals: "))]
    if not equal:
        return Told(Standing.NOT_MEASURED, "no bank was replayed")
    standings = [of_rate(each.counts["wrong"], each.studies, MOST_FALSE) for each in equal]
    machines = {_facts_of(each.about["noise"]) for each in equal}
    if len(machines) < BANKS_WANTED:
        standings.append(Standing.NOT_REACHED)
    wrong, studies = sum(r.counts["wrong"] for r in equal), sum(r.studies for r in equal)
    reached = (
        f"{rate_text(wrong, studies)} false on {len(equal)} banks of {len(machines)} "
        f"machine{'s' if len(machines) > 1 else ''}; {sizes_text((0, r.studies) for r in equal)}"
    )
    return Told(together(standings), reached, tuple(_bank_lines(store, equal)))


def _facts_of(name: str) -> str:
    facts = read_bank(BANKS / f"{name}.csv.gz").facts
    return f"{facts.get('cpu.model')}, {facts.get('cpu.count')} processors"


def _bank_lines(store: Store, equal: list[Result]) -> Iterator[str]:
    yield "Trials of one system, labelled as two by coin, effects multiplied in; 96 visits in a row"
    yield "from anywhere in the bank. *Found* is the share that is called faster, with the median"
    yield "of visits in brackets; rules of others: equal systems called different."
    yield ""
    yield "| bank | trials, machine, load average | false | effect: found | rules of others |"
    yield "|---|---|---:|---|---|"
    for each in equal:
        name = each.about["noise"]
        bank = read_bank(BANKS / f"{name}.csv.gz")
        yield (
            f"| {name} | {len(bank.trials):,}, {_facts_of(name)}, {bank.load_average[0]} to "
            f"{bank.load_average[1]} | {rate_text(each.counts['wrong'], each.studies)} of "
            f"{each.studies:,} | {_found(store, name)} | {_others(store, name)} |"
        )


def _found(store: Store, bank: str) -> str:
    told = [
        f"{each.about['effect']:+.2f}: {each.share('faster'):.0%} ({each.quantile(0.5)})"
        for each in store.all()
        if each.cell.startswith("stops: ") and each.about["noise"] == bank and each.about["effect"]
    ]
    return "; ".join(told) or "not run"


def _others(store: Store, bank: str) -> str:
    found = [r for r in store.all() if r.cell.startswith("rivals: ") and r.about["noise"] == bank]
    if not found:
        return "not run"
    shares = {
        rule: found[0].share(f"{rule}: faster") + found[0].share(f"{rule}: slower")
        for rule in RIVALS
    }
    return "; ".join(f"{rule}: {share:.0%}" for rule, share in shares.items())


def faults(store: Store) -> Told:
    """G12."""
    results = store.all()
    if not results:
        return Told(Standing.NOT_MEASURED, "nothing was run")
    standings = [_caught_enough(each) for each in results]
    good = sum(standing is Standing.REACHED for standing in standings)
    lines = [
        "24 visits of each at most, 2 % noise, margin 2 %, judged after every visit as a session",
        "does. Systems are equal but where it is said; every fault is at the cost of one of them",
        "and leaves in the records what the tool writes. *Said all the same*: a difference, or at",
        "the generator's ceiling equivalence; without a fault 5 % as well. *Named*: notes or",
        "limits tell of the fault, or the report counts it. *Caught*: named, and not said.",
        "Orders are simulated 1,000 times instead of 20,000.",
        "",
        "| fault | caught | named | said all the same | studies |",
        "|---|---:|---:|---:|---:|",
        *(
            f"| {each.cell} | {each.share('caught'):.0%} "
            f"| {rate_text(each.counts['named'], each.studies)} "
            f"| {rate_text(each.counts['verdict'], each.studies)} | {each.studies} |"
            for each in results
        ),
    ]
    sizes = sizes_text((0, each.studies) for each in results)
    missed = [each.cell for each, s in zip(results, standings, strict=True) if s is not _REACHED]
    told = f"{good} of {len(results)} faults; {sizes}"
    told += f"; not yet: {', '.join(missed)}" if missed else ""
    return Told(together(standings), told, tuple(lines))


def _caught_enough(result: Result) -> Standing:
    """Named in at least 95 %, and said all the same as seldom as without a fault."""
    named = of_share(result.counts["named"], result.studies, _NAMED)
    return together([named, of_rate(result.counts["verdict"], result.studies, MOST_FALSE)])


def replay(store: Store) -> Told:
    """G13."""
    twice, in_r = store.get("judged twice"), store.get("judged in R")
    if twice is None or in_r is None:
        return Told(Standing.NOT_MEASURED, "the judge in R has not judged by this method yet")
    right = twice.counts["same"] == twice.studies and in_r.counts["agree"] == in_r.studies
    told = (
        f"{twice.counts['same']} of {twice.studies} the same bits, R agrees on "
        f"{in_r.counts['agree']} of {in_r.studies} ({in_r.counts['words']} in words, "
        f"{in_r.counts['ends within a step']} of {in_r.counts['ends']} ends within a step)"
    )
    lines = [
        "The studies are in `tests/cases/judge/agreement/`, the script is",
        "`tests/calibration/agreement.R`: base R, written from [judge.md](judge.md) alone, with",
        "random numbers and simulated orders of its own. Words must be equal; the ends of the 95 %",
        "and of the 90 % interval within two steps of the grid (an eighth of the margin each), by",
        "which other simulated orders of the judge itself move them as well.",
    ]
    return Told(Standing.REACHED if right else Standing.NOT_REACHED, told, tuple(lines))


def planted(store: Store) -> Told:
    """G14."""
    found = store.get("planted mistakes")
    if found is None:
        return Told(Standing.NOT_MEASURED, "not run")
    whole = Standing.REACHED if found.studies == len(MUTATIONS) >= _LEAST else Standing.OPEN
    standing = whole if found.counts["seen"] == found.studies else Standing.NOT_REACHED
    lines = [
        "Each is planted into the judge of a test process, one by one, by `make test-all`",
        "(`tests/calibration/mutations.py`); the check that must see it is named beside it there.",
        "",
        *(f"{number}. {each.words}" for number, each in enumerate(MUTATIONS, start=1)),
    ]
    told = (
        f"{found.counts['seen']:d} of {found.studies} are seen, of {len(MUTATIONS)} that there are"
    )
    return Told(standing, told, tuple(lines))
