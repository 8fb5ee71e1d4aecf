"""One comparison as the tests see it: its visits in order, and the orders they might have had."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import NamedTuple

from steelyard.inference.exact import Pool
from steelyard.inference.noise.robust import Floats, Mask
from steelyard.inference.randomisation import Design
from steelyard.inference.spending import looks_until


class Order(NamedTuple):
    """A pool in one value: what its orders were drawn from, slots and systems of its rows."""

    drawn_from: Hashable
    slots: tuple[int, ...]
    others: tuple[bool, ...]

    def first(self, visits: int) -> Order:
        """The pool of the first visits."""
        return Order(self.drawn_from, self.slots[:visits], self.others[:visits])


@dataclass(frozen=True)
class Stream:
    """The visits of one comparison in their order, failed visits left out.

    ``values`` are natural logarithms, larger is better; ``other`` marks the visits of the other
    system; ``pool`` holds the signs of the observed and of all simulated orders, one row per
    value; ``horizon`` is the budget in visits, fixed before the first. ``order`` identifies the
    pool, so that a running study need not be judged from its start after each visit. ``once``:
    judged by one look after the last visit, which may spend the whole error rate. ``covariate``:
    what was known of each visit before it began, in one or several columns. ``design``: how the
    order was drawn; ``None`` where it was not. Of several ``machines``, the first visit of each
    stands before the second of any, and a look is made after one more on each of them.
    """

    values: Floats
    other: Mask
    pool: Pool
    horizon: int
    order: Order | None = None
    once: bool = False
    covariate: Floats | None = None
    design: Design | None = None
    machines: int = 1

    @property
    def visits(self) -> int:
        """How many there are, on each machine: what looks and budget count."""
        return len(self.values) // self.machines

    @property
    def looks(self) -> tuple[int, ...]:
        """Visits at each look."""
        return (self.visits,) if self.once else looks_until(self.visits, self.horizon)

    @property
    def last_look(self) -> int:
        """Visits at the last look, or all of them before the first."""
        return self.looks[-1] if self.looks else self.visits

    def mirrored(self) -> Stream:
        """The same comparison with good and bad swapped: low ends become high ends."""
        return replace(self, values=-self.values)

    def key(self, visits: int) -> Hashable:
        """The first visits in one value; ``None`` when the pool is not identified."""
        if self.order is None:
            return None
        values = self.values[:visits].tobytes()
        covariate = b"" if self.covariate is None else self.covariate[:visits].tobytes()
        return (self.order.first(visits), values, covariate, self.horizon)
