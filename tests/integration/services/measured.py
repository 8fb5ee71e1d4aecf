"""What one run of a tool measures, against a server of the catalogue or alone."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from steelyard.engine.messages import Ran
from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host
from steelyard.imports.metrics import read_metrics
from steelyard.records.schema import Measured
from steelyard.study import catalogue
from steelyard.study.declared import responses as declared
from steelyard.study.declared.value import defaults_of, read_value
from steelyard.study.model import WorkloadSpec
from steelyard.systems.services import RunningService
from steelyard.workloads.tools.ready import PLAIN_WORDS, ReadyTool, ToolContext, make_ready
from tests.integration.services.started import LACKING

LONGEST_S = 120.0
USERS = 2


def spec_of(use: str, **written: Any) -> WorkloadSpec:
    declared = catalogue.workload(use).settings
    settings = defaults_of(declared)
    settings |= {name: read_value(value, declared[name]) for name, value in written.items()}
    return WorkloadSpec(use=use, settings=settings)


def given_of(folder: Path, use: str, service: RunningService | None) -> dict[str, Any]:
    """What a trial would fill the places with that no setting says."""
    given = {"folder": str(folder), "mount": str(folder), "seed": 1, "window": 1, "warmup": 0}
    given |= {"users": USERS, "rate": 1}
    if service is not None:
        protocol = catalogue.workload(use).speaks[0]
        address, _, port = service.listeners.get(protocol, service.address).partition(":")
        given |= {"address": address, "port": port, "authority": service.authority}
    return given


def ran(tool: ReadyTool, environment: Mapping[str, str]) -> Ran:
    """The measured command; what comes after it, such as its last sync, has to go well."""
    told = {**PLAIN_WORDS, **environment}
    first, *after = (
        tool.host.run(list(words), timeout_s=LONGEST_S, directory=tool.folder, environment=told)
        for words in tool.commands
    )
    assert all(each.succeeded for each in after)
    return first


def measured(
    host: Host,
    folder: Path,
    use: str,
    service: RunningService | None = None,
    *,
    device: str | None = None,
    environment: Mapping[str, str] = MappingProxyType({}),
    beyond: Mapping[str, Any] = MappingProxyType({}),
    **written: Any,
) -> dict[str, Measured]:
    """What one run of the tool measures; skips where the tool is not installed.

    ``beyond`` are settings, in base units, that a study could not say.
    """
    own = folder / "tool"
    own.mkdir()
    given = given_of(own, use, service) | ({"device": device} if device else {})
    spec = WorkloadSpec(use=use, settings={**spec_of(use, **written).settings, **beyond})
    try:
        tool = make_ready(spec, ToolContext(host, str(own), given, lambda _: None, LONGEST_S))
    except SystemFailure as failure:
        if failure.kind in LACKING:
            pytest.skip(f"{failure.message}; {failure.hint}")
        raise
    done = ran(tool, environment)
    assert done.exit_code in tool.entry.good_exits, done.stdout + done.stderr
    texts = {"stdout": done.stdout, "stderr": done.stderr}
    texts |= {name: host.read_file(path) for name, path in tool.writes.items()}
    return read_metrics(tool.entry, tool.settings, tool.values, texts, declared.responses())


def value(read: dict[str, Measured], name: str) -> float:
    one = read[name]
    assert one.value is not None, one.missing
    return one.value
