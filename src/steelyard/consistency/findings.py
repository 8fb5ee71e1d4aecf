"""What is found in a table: kinds and figures; ``report/sentences`` writes of them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Rule(StrEnum):
    """What was held against the table."""

    PERCENTILES = "percentiles"
    SPREAD = "spread"
    SUM = "sum"
    MEAN = "mean"
    EXTREME = "extreme"
    DIFFERENCE = "difference"
    PERCENTAGE = "percentage"
    PART = "part"
    PRODUCT = "product"
    WORK = "work"
    LITTLES_LAW = "littles-law"
    IN_FLIGHT = "in-flight"
    GUEST_EXCEEDS_HOST = "guest-exceeds-host"
    MEMORY_HIERARCHY = "memory-hierarchy"
    REPEATED_VALUES = "repeated-values"
    DUPLICATE_ROW = "duplicate-row"
    DIGIT_SLIP = "digit-slip"
    FACTOR_OF_TEN = "factor-of-ten"
    ROUNDING = "rounding"
    RESOLUTION = "resolution"
    ZERO = "zero"
    SINGLE_REPLICATE = "single-replicate"
    REPLICATES_NOT_STATED = "replicates-not-stated"
    CLAIM = "claim"


class Severity(StrEnum):
    """``ERROR``: it cannot be right as printed; ``WARNING``: it may be, and a reader must know."""

    ERROR = "error"
    WARNING = "warning"


WARNINGS = frozenset({
    Rule.REPEATED_VALUES, Rule.DIGIT_SLIP, Rule.FACTOR_OF_TEN, Rule.ROUNDING, Rule.RESOLUTION,
    Rule.ZERO, Rule.IN_FLIGHT, Rule.GUEST_EXCEEDS_HOST, Rule.SINGLE_REPLICATE,
    Rule.REPLICATES_NOT_STATED,
})  # fmt: skip


class Cause(StrEnum):
    """What would explain a printed value."""

    DIGIT = "digit"
    FACTOR_OF_TEN = "factor_of_ten"
    COPIED = "copied"
    PARTS_ROUNDED = "parts_rounded"
    DIVISOR = "divisor"
    PART_LEFT_OUT = "part_left_out"
    SIGN = "sign"
    NO_STEP = "no_step"
    ALONE = "alone"
    POSITIVE_ELSEWHERE = "positive_elsewhere"
    UP = "up"
    DOWN = "down"
    TRUNCATED = "truncated"
    TIED = "tied"


@dataclass(frozen=True)
class Place:
    """A printed value and where it stands; ``cell`` says of what it is, ``field`` its column."""

    line: int
    column: int
    field: str
    cell: str
    printed: str


@dataclass(frozen=True)
class Finding:
    """One disagreement.

    ``expected_low`` and ``expected_high`` bound what would agree; of a bound on one side the
    other is ``None``, and where no number is expected, both. ``others`` are the values it was
    held against. ``count`` of ``of`` values have what is said, where it is said of several.
    """

    rule: Rule
    severity: Severity
    at: Place
    expected_low: float | None = None
    expected_high: float | None = None
    cause: Cause | None = None
    others: tuple[Place, ...] = ()
    count: int = 1
    of: int = 1
    claim: str | None = None


@dataclass(frozen=True)
class TableFindings:
    """All findings of a table, by line.

    ``values``: numbers that were checked, of which those that are ``alone`` have no known unit
    and nothing else of their measurement, so that few rules can be held against them;
    ``no_numbers``: values that are none. ``lacks_value``: there are columns of a metric and a
    unit, and none of the values.
    """

    table: str
    values: int
    no_numbers: int
    claims: int
    claims_supported: int
    findings: tuple[Finding, ...]
    alone: int = 0
    lacks_value: bool = False
