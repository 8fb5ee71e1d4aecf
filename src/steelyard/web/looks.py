"""Comparisons of interim looks: which are the same, and the last size that is known of each."""

from __future__ import annotations

from collections.abc import Hashable, Mapping

from steelyard.records.events import InterimComparison

Identity = tuple[Hashable, ...]


def same(a: InterimComparison, b: InterimComparison) -> bool:
    """Whether two looks speak of the same comparison."""
    return identity(a) == identity(b)


def identity(each: InterimComparison) -> Identity:
    """What a comparison is of, whatever was found."""
    where = None if each.conditions is None else tuple(sorted(each.conditions.items()))
    return each.workload, each.baseline, each.other, where


def with_size(
    each: InterimComparison, sizes: Mapping[Identity, InterimComparison]
) -> InterimComparison:
    """The comparison with the size of an earlier look where its own has none: later looks of a long
    run mostly ask for words alone.
    """
    known = sizes.get(identity(each))
    if each.estimate_log is not None or known is None:
        return each
    names = ("estimate_log", "low_log", "high_log")
    return each.model_copy(update={name: getattr(known, name) for name in names})
