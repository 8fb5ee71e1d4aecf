"""What the load of a study brings a server in one minute, for limits that count by the minute.

All of it comes from one address, as anvil of Postfix counts it. A window shorter than a minute
brings no more than there is in it; its warm-up counts, as the server does not know which it is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from steelyard.study.ending import counted
from steelyard.study.lookup import workload_of
from steelyard.study.workload.settings import SharedSettings
from steelyard.study.workload_study import WorkloadStudy

CONNECTIONS = "connections a minute"
MESSAGES = "messages a minute"
RECIPIENTS = "recipients a minute"
BY_THE_MINUTE = (CONNECTIONS, MESSAGES, RECIPIENTS)

_MINUTE_S = 60.0
OPERATIONS_OF_A_CONNECTION = (
    "messages_per_connection",
    "commands_per_connection",
    "transfers_per_connection",
)
"""Settings that say after how many operations a connection ends; 0 keeps it."""
_SESSIONS = "sessions"
"""Operations of a load that have a connection each."""
_MAIL = {"smtp", "lmtp"}
"""Protocols that hand messages over."""


@dataclass(frozen=True)
class Arrivals:
    """How many come in a minute: infinitely many where only the server's answers hold them back.

    ``exactly``: the load starts that many; otherwise it is the most that its users can.
    """

    most: float
    exactly: bool = False

    def times(self, each: int) -> Arrivals:
        """As many, with so many of something else in each."""
        return Arrivals(self.most * each, self.exactly)

    def and_also(self, most: float) -> Arrivals:
        """Together with so many others, by the clock."""
        return Arrivals(self.most + math.ceil(most), self.exactly)


def in_a_minute(study: WorkloadStudy, width: int) -> dict[str, Arrivals]:
    """By what is counted, with the largest load of a workload, ``width`` connections at a time."""
    operations = _operations(study, width)
    probes = 0.0 if study.latency_probe is None else _driven_s(study) / study.latency_probe.every_s
    counts = {CONNECTIONS: _connections(study, operations, width)}
    if _MAIL & set(workload_of(study.workload).speaks):
        each = max(_numbers(study, "recipients_per_message"), default=1)
        counts |= {MESSAGES: operations, RECIPIENTS: operations.times(each)}
    return {name: came.and_also(probes) for name, came in counts.items()}


def _operations(study: WorkloadStudy, width: int) -> Arrivals:
    """The operations that are started in a minute."""
    came = _by_the_clock(study, width)
    ending = counted(study.workload.settings)
    messages = SharedSettings.of(study.workload.settings).messages
    if ending is None or came.exactly:
        return came
    if not workload_of(study.workload).is_load and messages is not None:
        return Arrivals(min(came.most, messages))
    each = ending.operations_per_user
    whole = ending.operations if each is None else each * width
    return Arrivals(min(came.most, float(whole or math.inf)))


def _by_the_clock(study: WorkloadStudy, width: int) -> Arrivals:
    rates = study.factors.get("load.rate", ())
    load = study.load
    if load is None or study.find:
        return Arrivals(math.inf)
    if rates:
        return Arrivals(math.ceil(max(map(float, rates)) * _driven_s(study)), exactly=True)
    pace = SharedSettings.of(study.workload.settings).pace
    if pace is not None:
        return Arrivals(pace)
    if not load.think_time_s:
        return Arrivals(math.inf)
    return Arrivals(width * math.ceil(_driven_s(study) / load.think_time_s))


def _driven_s(study: WorkloadStudy) -> float:
    """How much of a minute a trial drives its load; one that ends by itself may take it all."""
    if counted(study.workload.settings) is not None:
        return _MINUTE_S
    return min(_MINUTE_S, study.trials.warmup_s + study.trials.window_s)


def _connections(study: WorkloadStudy, operations: Arrivals, width: int) -> Arrivals:
    """Connections that are opened: as many as are kept, or one for so many operations."""
    each = _least_on_a_connection(study)
    if not each:
        return Arrivals(float(width), exactly=True)
    return Arrivals(max(width, _up(operations.most / each)), operations.exactly)


def _up(number: float) -> float:
    return number if math.isinf(number) else math.ceil(number)


def _least_on_a_connection(study: WorkloadStudy) -> int:
    """Operations on one connection where that is fewest; 0 where all connections are kept."""
    entry, settings = workload_of(study.workload), study.workload.settings
    if entry.is_tool:
        return 0 if SharedSettings.of(settings).one_connection else 1
    alone = entry.probe
    if alone is not None and all(settings.get(key) == value for key, value in alone.items()):
        return 1
    if entry.operation == _SESSIONS:
        return 1
    levels = [each for name in OPERATIONS_OF_A_CONNECTION for each in _numbers(study, name) if each]
    return min(levels, default=0)


def _numbers(study: WorkloadStudy, setting: str) -> list[int]:
    """Every level of a setting of the workload that is a number."""
    own = (study.workload.settings.get(setting),)
    levels = study.factors.get(f"workload.{setting}", own)
    return [int(level) for level in levels if isinstance(level, int | float)]
