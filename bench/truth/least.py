"""The minimal clients in C as a tool of the suite: they say what the machine leaves to anybody."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from bench import compiled
from bench.truth import criteria
from bench.truth.judge import Report
from bench.truth.tools import Load, first_line

ONLY = "asked for tests 3 and 5 only: it times one user, or sends at a rate and times nothing"


@dataclass(frozen=True)
class Least:
    """bench/peers/delay_client.c for one user, bench/peers/pace_client.c for a rate."""

    polls: bool = False
    """Of the one user: ask for the answer again and again instead of sleeping until it is there."""
    name: str = "minimal client"
    can: frozenset[str] = frozenset(("rate", "poisson"))
    cannot: ClassVar[dict[str, str]] = {"closed": ONLY, "log": ONLY}

    def installed(self) -> bool:
        return True

    def version(self) -> str:
        return f"bench/peers, {first_line(['cc', '--version'])}"

    def command(self, load: Load) -> list[str]:
        port = load.address.rsplit(":", 1)[1]
        if load.rate is None:
            words = [port, str(load.seconds), *(["poll"] if self.polls else [])]
            return [str(compiled.built("delay_client")), *words]
        words = [port, str(load.connections), str(load.rate), str(load.seconds)]
        how = "poisson" if load.poisson else "constant"
        return [str(compiled.built("pace_client")), *words, how]

    def report(self, output: str, load: Load) -> Report:
        if load.rate is not None:
            return Report(count=int(output.split(maxsplit=1)[0]), source="the server's stamps")
        times_ns = [float(line) for line in output.split()]
        if len(times_ns) < criteria.LEAST_ANSWERS:
            return Report(count=len(times_ns))
        p50, p99 = (float(np.quantile(times_ns, q)) for q in (0.5, 0.99))
        return Report(count=len(times_ns), p50_ns=p50, p99_ns=p99, source="all times")

    def samples_ns(self, load: Load) -> list[float]:
        raise NotImplementedError(ONLY)
