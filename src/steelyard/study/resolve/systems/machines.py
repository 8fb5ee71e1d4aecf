"""Several machines of one study: which, and what each of them must be able to carry."""

from __future__ import annotations

import re

from steelyard.study.file.complaints import Complaints
from steelyard.study.file.grammar import StudyFile
from steelyard.study.file.source import Where
from steelyard.study.machines import machine_name

_ADDRESS = re.compile(r"local|ssh://([^\s/@]+@)?[A-Za-z0-9][A-Za-z0-9._:-]*")
_LEAST = 2
_KEY: Where = ("machines",)


def resolve_machines(file: StudyFile, complaints: Complaints) -> tuple[str, ...]:
    """Their addresses; none where the study does not ask for several."""
    if file.machines is None:
        return ()
    known: list[str] = []
    for i, address in enumerate(file.machines):
        if not _ADDRESS.fullmatch(address):
            message = f"`{address}` is not the address of a machine"
            complaints.add((*_KEY, i), message, f"write `local`, or `ssh://{_host(address)}`")
        elif machine_name(address) in map(machine_name, known):
            message = f"`{machine_name(address)}` is named twice"
            complaints.add((*_KEY, i), message, "name each machine once")
        else:
            known.append(address)
    if len(file.machines) < _LEAST:
        hint = "name another, or take it out and write `defaults: {host_machine: ...}`"
        complaints.add(_KEY, "`machines` needs two machines at least", hint, at_key=True)
    _check_not_pinned(file, complaints)
    _check_asked(file, complaints)
    return tuple(known)


def _host(written: str) -> str:
    return re.sub(r"[^A-Za-z0-9._:-]", "-", written.rpartition("/")[2]).strip("-") or "NAME"


def _check_not_pinned(file: StudyFile, complaints: Complaints) -> None:
    """Each system is on every machine, so that none has a place of its own."""
    if file.defaults is not None and file.defaults.host_machine is not None:
        hint = "take it out: each of `machines` carries the systems"
        complaints.add(("defaults", "host_machine"), "systems are pinned to one host", hint)
    for name, part in file.systems.items():
        if part.host_machine is not None:
            hint = "take it out: each of `machines` carries it"
            message = f"`{name}` is pinned to one host, and every machine carries all systems"
            complaints.add(("systems", name, "host_machine"), message, hint)
        elif part.platform == "ssh":
            hint = "write `platform: native`: the system is then each of the machines in turn"
            message = f"`{name}` is one machine by itself, and every machine carries all systems"
            complaints.add(("systems", name, "platform"), message, hint)


def _check_asked(file: StudyFile, complaints: Complaints) -> None:
    """Questions that machines do not answer together."""
    for key, asked in {"screen": file.screen, "ask": file.ask}.items():
        if asked is not None:
            hint = "ask it in a study of one machine"
            message = f"`{key}` and `machines` exclude each other"
            complaints.add((key,), message, hint, at_key=True)
    if file.trials.span is not None:
        hint = "take it out; visits on several machines lie as far apart as these take turns"
        message = "`span` and `machines` exclude each other"
        complaints.add(("trials", "span"), message, hint, at_key=True)
