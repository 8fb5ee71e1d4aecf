"""The one clock of the records of a process."""

from __future__ import annotations

import time
from dataclasses import dataclass, field


def _since_boot_ns() -> int:
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME)


@dataclass(frozen=True)
class SteadyClock:
    """Unix time by the clock of the moment it was made, in steps that only go forward.

    A clock that is set while a session runs would make durations long or negative; the clock that
    counts from the boot is never set, and goes on while the machine is suspended.
    """

    began_unix_ns: int = field(default_factory=time.time_ns)
    began_boot_ns: int = field(default_factory=_since_boot_ns)

    def now_unix_ns(self) -> int:
        return self.began_unix_ns + _since_boot_ns() - self.began_boot_ns


now_unix_ns = SteadyClock().now_unix_ns
"""One clock for all records of a process, so that their differences are durations."""
