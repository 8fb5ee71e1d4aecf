"""Every declared reset is what it says: proved by a file, by the boot, by its own evidence."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import get_args

from steelyard.hosts.failures import SystemFailure
from steelyard.study.model import Reset
from steelyard.systems.conformance.bench import Bench
from steelyard.systems.conformance.finding import NotApplicable, expect

_FORGETS: frozenset[str] = frozenset({"container", "snapshot"})


def reset_checks() -> dict[str, Callable[[Bench], str]]:
    """One for each strength there is."""
    return {f"reset {strength}": partial(_reset, strength) for strength in get_args(Reset)}


def _reset(strength: Reset, bench: Bench) -> str:
    if strength not in bench.declared.resets:
        raise NotApplicable("the platform does not declare it")
    place = bench.place()
    if strength == "snapshot":
        place.reset(strength)  # it may have been taken of another boot than the one before this
    left = f"{place.folder()}/left-before-the-reset"
    place.host().write_file(left, "left\n", create=True)
    before = place.host().boot_id
    try:
        proof = place.reset(strength)
    except SystemFailure as failure:
        if failure.kind == "not_supported":
            raise NotApplicable(failure.message) from failure
        raise
    host = place.host()
    expect(proof.strength == strength, f"the proof is of a reset `{proof.strength}`")
    expect(bool(proof.evidence), "the proof has no evidence")
    booted = host.boot_id != before
    told = f"the boot id was {before} and is {host.boot_id}"
    expect(booted or strength != "boot", told)
    expect(not booted or strength != "service", told)
    thrown_away = strength in _FORGETS or any(key.startswith("overlay.") for key in proof.evidence)
    there = host.path_facts(left).exists
    expect(not (thrown_away and there), "a file that was written before it is still there")
    if there:
        host.remove_tree(left)
    return said_of(proof.evidence)


def said_of(evidence: Mapping[str, str]) -> str:
    """In a line: boot ids whole, digests and chains of files as far as they fit."""
    short = {name: v if len(v) <= 36 else f"{v[:32]}..." for name, v in evidence.items()}
    return ", ".join(f"{name} {value}" for name, value in short.items())
