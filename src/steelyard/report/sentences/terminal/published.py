"""What ``steelyard check`` prints: findings of a published table, each with its reason."""

from __future__ import annotations

from collections import Counter
from decimal import ROUND_HALF_EVEN, Decimal

from steelyard.consistency.findings import Cause, Finding, Place, Rule, Severity, TableFindings
from steelyard.report.figures import counted

_MOST_OTHERS = 3
_ALONE = "as they have no known unit and stand beside nothing else of their measurement"
_NO_VALUE_COLUMN = (
    "  hint: there are columns metric and unit: if each row holds one value of them, name the "
    "column that holds it `value`"
)
_REASONS = {
    Rule.PERCENTILES: "quantiles do not fall, and the mean lies between them",
    Rule.SPREAD: "no values with this minimum, mean, median and maximum have such a deviation",
    Rule.SUM: "it is the sum of the others",
    Rule.MEAN: "it is the mean of the others",
    Rule.EXTREME: "it is the extreme of the others",
    Rule.DIFFERENCE: "it is the difference of the others",
    Rule.PERCENTAGE: "it is the percentage of the others",
    Rule.PART: "a part is at most the whole",
    Rule.PRODUCT: "it is the product of the others",
    Rule.WORK: "rate times time is work",
    Rule.LITTLES_LAW: "throughput times response time is at most the users (Little's law)",
    Rule.IN_FLIGHT: "both throughput and response time are higher than those of another system at "
    "the same load: not the same number in flight (Little's law), or one of the response times "
    "leaves out a part",
    Rule.GUEST_EXCEEDS_HOST: "the guest moved more than its host",
    Rule.MEMORY_HIERARCHY: "a farther level of memory is not faster",
    Rule.REPEATED_VALUES: "the same values stand elsewhere: one measurement printed twice, or a "
    "baseline used again",
    Rule.DUPLICATE_ROW: "another row has the same levels, so nothing tells which of the two holds",
    Rule.DIGIT_SLIP: "one digit away from neighbours that agree with each other",
    Rule.FACTOR_OF_TEN: "a power of ten away from its neighbours",
    Rule.ROUNDING: "not rounded to the nearest",
    Rule.RESOLUTION: "one unit of the last digit is more than a tenth of the value",
    Rule.ZERO: "a zero where nothing else says that something was measured",
    Rule.SINGLE_REPLICATE: "one run each: the spread between runs is not known",
    Rule.REPLICATES_NOT_STATED: "the number of runs is not stated",
    Rule.CLAIM: "the table does not bear it out",
}
_CAUSES = {
    Cause.DIGIT: "one wrong digit would explain it",
    Cause.FACTOR_OF_TEN: "a decimal point in another place would explain it",
    Cause.COPIED: "the same digits stand in another column of this row",
    Cause.PARTS_ROUNDED: "the parts were rounded first",
    Cause.DIVISOR: "divided by one too many or one too few",
    Cause.PART_LEFT_OUT: "one part was left out",
    Cause.SIGN: "the sign is reversed",
    Cause.NO_STEP: "other rows show a clear step here",
    Cause.ALONE: "it is the only value of its measurement; others have more",
    Cause.POSITIVE_ELSEWHERE: "all others are positive",
    Cause.UP: "all are rounded up",
    Cause.DOWN: "all are rounded down",
    Cause.TRUNCATED: "all are truncated",
    Cause.TIED: "the printed digits do not decide it",
}
_OF_SEVERAL = {
    Rule.REPEATED_VALUES, Rule.ROUNDING, Rule.RESOLUTION, Rule.SINGLE_REPLICATE,
    Rule.REPLICATES_NOT_STATED, Rule.GUEST_EXCEEDS_HOST, Rule.CLAIM,
}  # fmt: skip


def published_lines(found: TableFindings) -> list[str]:
    """A table of findings by line, each with its reason below it, then what was counted."""
    lines = [line for finding in found.findings for line in _finding_lines(found.table, finding)]
    hint = [_NO_VALUE_COLUMN] if found.lacks_value else []
    return [*lines, _summary(found), *hint]


def _finding_lines(table: str, finding: Finding) -> list[str]:
    at = finding.at
    place = f"{table}:{at.line}:{at.column}: {finding.severity} {finding.rule}"
    shown = f"printed {at.printed}"
    if (wanted := expected(finding)) is not None:
        shown += f", expected {wanted}"
    return [f"{place}: {at.cell or at.field}: {shown}", f"    {reason(finding)}"]


def reason(finding: Finding) -> str:
    """Why, in one sentence, with the values it was held against."""
    parts = [] if finding.cause is Cause.TIED else [_REASONS[finding.rule]]
    if finding.claim is not None:
        parts = [f"claimed: {finding.claim}", *parts]
    if finding.cause is not None:
        parts.append(_CAUSES[finding.cause])
    if finding.rule in _OF_SEVERAL:
        parts.append(f"{finding.count} of {finding.of} values")
    if finding.others:
        parts.append(f"against {_others(finding.others)}")
    return "; ".join(parts)


def _others(others: tuple[Place, ...]) -> str:
    shown = [f"{other.printed} (line {other.line})" for other in others[:_MOST_OTHERS]]
    more = len(others) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


def expected(finding: Finding) -> str | None:
    """What would agree, with the digits of what was printed."""
    low, high = finding.expected_low, finding.expected_high
    if low is None and high is None:
        return None
    if low is None or high is None:
        bound = high if low is None else low
        return f"at {'most' if low is None else 'least'} {_digits(bound or 0.0, finding, 1)}"
    ends = [_digits(low, finding), _digits(high, finding)]
    if ends[0] == ends[1]:
        return ends[0]
    middle = _digits((low + high) / 2, finding)
    narrow = high - low <= 2.5 * float(_quantum(finding))
    return middle if narrow else f"{ends[0]} to {ends[1]}"


def _digits(value: float, finding: Finding, further: int = 0) -> str:
    """With the last place of what was printed."""
    quantum = _quantum(finding).scaleb(-further)
    exact = Decimal(repr(value))
    text = exact.quantize(quantum, ROUND_HALF_EVEN) if abs(exact) < Decimal("1e15") else exact
    return f"{text:f}".replace("-0.00", "0.00") if text == 0 else f"{text:f}"


def _quantum(finding: Finding) -> Decimal:
    exponent = int(Decimal(finding.at.printed).as_tuple().exponent)
    return Decimal(1).scaleb(min(exponent, 0))


def _summary(found: TableFindings) -> str:
    severities = Counter(finding.severity for finding in found.findings)
    errors, warnings = severities[Severity.ERROR], severities[Severity.WARNING]
    parts = [f"{counted(found.values, 'value')} checked"]
    if found.no_numbers:
        parts.append(f"{found.no_numbers} left out that {_are(found.no_numbers)}")
    if found.alone:
        parts.append(f"{found.alone} checked by few rules, {_ALONE}")
    if found.claims:
        parts.append(f"{found.claims_supported} of {counted(found.claims, 'claim')} supported")
    parts.append(f"{counted(errors, 'error')}, {counted(warnings, 'warning')}")
    return f"{found.table}: " + "; ".join(parts)


def _are(count: int) -> str:
    return "is no number" if count == 1 else "are no numbers"
