"""Findings for publication: figures and verdicts stay, what identifies the machine is removed.

Taken out are host names, paths outside of the folders that every Linux has, addresses of networks,
hardware addresses, what a vendor adds to a kernel's version, and the values of facts that identify
a machine. Figures, verdicts, processor and distribution stay: without them no one could read the
result.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable
from typing import Any

from steelyard.judge.findings import RunFindings
from steelyard.records.schema import TrialRecord

WITHHELD = "withheld"
IDENTIFYING = frozenset(
    {"hostname", "boot_id", "machine_id.sha256", "kernel.command_line", "kernel.version"}
)
"""Facts whose values say which machine it was."""
_FREE_TEXT = (
    "attempts",
    "calibrations",
    "caveats",
    "costs",
    "diagnostics",
    "differences",
    "failures",
    "placements",
    "resolution",
    "verdicts",
)
"""Parts of a run and of its workloads that hold text which a machine may have written."""
_OF_THE_STUDY = frozenset(
    {"kind", "design", "cell", "conditions", "system", "baseline", "other", "response"}
)
"""Fields that hold kinds, and the study's own names and levels, which other parts are found by."""
_KERNEL_RELEASE = "kernel"
_OF_EVERY_LINUX = ("bin", "boot", "dev", "etc", "lib", "lib64", "proc", "run", "sbin", "sys", "usr")
_KERNEL_FILES = re.compile(r"((?<![\w/])/(?:proc|sys)/[\w.+@~/-]+)")
"""Every Linux has them, also a folder ``vm`` where a machine is called so."""
_PATH = re.compile(r"(?<![\w.:/<}#])/(?:[\w.+@~-]+/)+[\w.+@~-]*\w")
_IPV4 = re.compile(r"(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?![\d.]*\d)")
_HARDWARE = re.compile(r"\b[0-9a-f]{2}(?::[0-9a-f]{2}){5}\b", re.IGNORECASE)
_URL_HOST = re.compile(r"\b((?:ssh|nbd|iscsi|nfs)://)(?:[\w.-]+@)?[\w.-]+")
_VERSION = re.compile(r"(?<=\d)[-+~].*")
_KERNEL = re.compile(r"\b(kernel \d+(?:\.\d+)+)[-+~][\w.+~-]*\w")


def anonymous_of(findings: RunFindings, records: Iterable[TrialRecord]) -> RunFindings:
    """The same findings without host names, paths and addresses of the machines of ``records``."""
    facts = (facts for record in records for facts in record.facts.values())
    return anonymous(findings, {name for each in facts if (name := each.get("hostname"))})


def anonymous(run: RunFindings, host_names: Iterable[str] = ()) -> RunFindings:
    """The same findings without what identifies the machine.

    ``host_names`` are those of the machines. One that is also a name of the study (a system, say)
    stays where the study uses it.
    """
    taken = {*run.systems, run.study, "local", "localhost", "steelyard"}
    names = sorted({name for name in host_names if name} - taken, key=len, reverse=True)
    document = run.model_dump()
    for part in (document, *document["workloads"]):
        part |= {key: _cleaned(part[key], names) for key in _FREE_TEXT if key in part}
    text = document["study_text"]
    document["study_text"] = anonymous_text(
        text, [name for name in names if not _is_key(name, text)]
    )
    for machine in document["machines"]:
        for fact, value in machine["facts"].items():
            machine["facts"][fact] = _fact(fact, value, names)
    for difference in document["differences"]:
        _withhold(difference)
    return RunFindings.model_validate(document)


def _is_key(name: str, study_text: str) -> bool:
    """Whether a study file names something so, such as a system that its variant leaves out."""
    return re.search(rf"(?<![\w.-]){re.escape(name)}\s*:", study_text) is not None


def anonymous_text(text: str, host_names: Iterable[str] = ()) -> str:
    """One text without names, paths and addresses of machines."""
    names, parts = tuple(host_names), _KERNEL_FILES.split(text)
    text = "".join(
        part if place % 2 else _without_names(part, names) for place, part in enumerate(parts)
    )
    text = _URL_HOST.sub(r"\1<machine>", text)
    text = _PATH.sub(_path, text)
    text = _HARDWARE.sub("<hardware address>", text)
    return _KERNEL.sub(r"\1", _IPV4.sub(_address, text))


def _without_names(text: str, host_names: Iterable[str]) -> str:
    for name in host_names:
        text = re.sub(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", "<machine>", text)
    return text


def _cleaned(value: Any, names: list[str]) -> Any:
    if isinstance(value, str):
        return anonymous_text(value, names)
    if isinstance(value, dict):
        return {key: _cleaned_field(key, each, names) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_cleaned(each, names) for each in value]
    return value


def _cleaned_field(key: str, value: Any, names: list[str]) -> Any:
    if key in _OF_THE_STUDY:
        return value
    if key == _KERNEL_RELEASE and isinstance(value, str):
        return _VERSION.sub("", value)
    return _cleaned(value, names)


def _fact(fact: str, value: str, names: list[str]) -> str:
    """Of a kernel only its version; of others what a text may say."""
    return _VERSION.sub("", value) if fact == "kernel.release" else anonymous_text(value, names)


def _withhold(difference: dict[str, Any]) -> None:
    fact = difference["fact"].rpartition(": ")[2]
    for system, value in difference["values"].items():
        if value is not None and fact in IDENTIFYING:
            difference["values"][system] = WITHHELD
        elif value is not None and fact == "kernel.release":
            difference["values"][system] = _VERSION.sub("", value)


def _path(found: re.Match[str]) -> str:
    first = found[0].split("/")[1]
    return found[0] if first in _OF_EVERY_LINUX else "<path>"


def _address(found: re.Match[str]) -> str:
    try:
        address = ipaddress.ip_address(found[0])
    except ValueError:
        return found[0]
    kept = address.is_loopback or address.is_unspecified
    return found[0] if kept else "<address>"
