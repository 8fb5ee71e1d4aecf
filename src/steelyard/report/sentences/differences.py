"""What differs between the compared beside what the study compares: counted, the gravest named."""

from __future__ import annotations

from steelyard.judge.findings import RunFindings
from steelyard.judge.validity.findings import DifferenceFinding
from steelyard.report.figures import counted, listed
from steelyard.report.vocabulary import compared_all
from steelyard.units import format_bytes

_NAMED = 3
_NAMED_OF_DECLARED = 2
_LONGEST, _BEFORE = 40, 8
_ACCELERATORS = {"tcg": "emulated, no KVM", "kvm": "KVM"}


def difference_lines(run: RunFindings) -> list[str]:
    """One sentence for what was not declared, one for each that the study accepts."""
    found = [each for each in run.differences if each.is_confounder]
    accepted = [
        f"{each.fact} differs between the {compared_all(run)}, accepted: {each.accepted}."
        for each in run.differences
        if each.accepted is not None and not each.declared
    ]
    if not found:
        return accepted
    facts = counted(len(found), "undeclared difference")
    named = _gravest(found)
    texts = "; ".join(_text(each, run) for each in named)
    rest = f"; and {len(found) - len(named)} more" if len(found) > len(named) else ""
    return [
        f"{facts} between the {compared_all(run)}: {texts}{rest}.",
        *accepted,
    ]


def declared_line(run: RunFindings) -> str:
    """In what the systems differ as declared, where nothing else sets them apart."""
    facts = [each.fact for each in run.differences if each.declared]
    noun = compared_all(run)
    if not facts:
        return f"No recorded fact differs between the {noun}."
    more = len(facts) - _NAMED_OF_DECLARED
    named = [*facts[:_NAMED_OF_DECLARED], *([f"{more} more"] if more > 0 else [])]
    return f"Only what the study declares differs: {listed(named)}."


def _gravest(found: list[DifferenceFinding]) -> list[DifferenceFinding]:
    """The first of each subject, then the others: twenty facts of a network card are one reason."""
    first: dict[str, DifferenceFinding] = {}
    for each in found:
        first.setdefault(each.subject, each)
    named = list(first.values())
    return (named + [each for each in found if each not in named])[:_NAMED]


def _text(found: DifferenceFinding, run: RunFindings) -> str:
    names = [name for name in run.systems if name in found.values]
    values = _shortened([_value(found, found.values[name]) for name in names])
    pairs = ", ".join(f"{name} {value}" for name, value in zip(names, values, strict=True))
    return f"{found.fact} ({pairs})"


def _shortened(values: list[str]) -> list[str]:
    """Long ones from where they differ on, and a little before it."""
    columns = enumerate(zip(*values, strict=False))
    start = next((i for i, letters in columns if len(set(letters)) > 1), 0) - _BEFORE
    if max(map(len, values)) <= _LONGEST or start <= _BEFORE:
        start = 0
    lead = "…" if start else ""
    cut = [value[start:] for value in values]
    return [f"{lead}{v if len(v) <= _LONGEST else f'{v[:_LONGEST]}…'}" for v in cut]


def _value(found: DifferenceFinding, value: str | None) -> str:
    if value is None:
        return "not reported"
    if found.subject == "accelerator":
        return _ACCELERATORS.get(value, value)
    if found.fact.endswith("_bytes") and value.isdigit():
        return format_bytes(int(value))
    return value
