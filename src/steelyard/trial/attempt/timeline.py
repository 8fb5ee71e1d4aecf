"""How long each phase of a trial took, by the controller's clock."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from steelyard.records.steady_clock import now_unix_ns

RESET_PHASES = (
    "restore",
    "attach_disks",
    "configure",
    "start_service",
    "drop_caches",
    "check_disks",
    "undo",
)
LOAD_PHASES = ("settle", "warmup", "window")


class Timeline:
    """Durations by phase in ns, and which phase is on."""

    def __init__(self) -> None:
        self.started_unix_ns = now_unix_ns()
        self.phase = "restore"
        self.durations_ns: dict[str, int] = {}

    @contextmanager
    def during(self, phase: str) -> Iterator[None]:
        """Measures what happens inside, also when it fails."""
        self.phase = phase
        start = time.monotonic_ns()
        try:
            yield
        finally:
            spent = time.monotonic_ns() - start
            self.durations_ns[phase] = self.durations_ns.get(phase, 0) + spent

    def split_measure(self, warmup_ns: int, window_ns: int) -> None:
        """Cuts ``measure`` into its warm-up, its window, and the rest, which is overhead."""
        whole = self.durations_ns.pop("measure")
        self.durations_ns["warmup"] = warmup_ns
        self.durations_ns["window"] = window_ns
        self.durations_ns["connect_and_drain"] = max(0, whole - warmup_ns - window_ns)


def overhead_ns(durations_ns: dict[str, int]) -> int:
    """What a trial took besides reset, warm-up and window: the controller's own cost."""
    useful = RESET_PHASES + LOAD_PHASES
    return sum(spent for phase, spent in durations_ns.items() if phase not in useful)
