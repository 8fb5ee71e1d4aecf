"""A variant laid over its study: parts replaced, systems left out, every place kept."""

from __future__ import annotations

import copy

from steelyard.errors import Complaint, StudyError
from steelyard.study.file.complaints import choice_hint
from steelyard.study.file.source import Place, Source, Where


def variant_names(source: Source) -> tuple[str, ...]:
    """Names of all variants that are mappings."""
    variants = source.tree.get("variants")
    if not isinstance(variants, dict):
        return ()
    return tuple(name for name, changes in variants.items() if isinstance(changes, dict))


def with_variant(source: Source, variant: str) -> Source:
    """The study as this variant has it. Mappings are merged, all else replaced, null removes.

    ``systems`` (or any mapping) may be given as a list: the names that stay. Raises
    ``StudyError`` for an unknown variant or name.
    """
    changed, complaints = overlaid(source, variant)
    if complaints:
        raise StudyError(complaints)
    return changed


def overlaid(source: Source, variant: str) -> tuple[Source, list[Complaint]]:
    """The same, with the complaints about unknown names instead of raising them."""
    names = variant_names(source)
    if variant not in names:
        line, column = source.keys.get(("variants",), (1, 1))
        hint = choice_hint(variant, names, "variants")
        message = f"there is no variant `{variant}`"
        raise StudyError([Complaint(source.path, line, column, message, hint)])
    overlay = _Overlay(source)
    changes = source.part("variants", variant)
    if isinstance(changes, dict):
        overlay.merge(overlay.tree, changes, (), ("variants", variant))
    changed = Source(source.path, source.raw, overlay.tree, overlay.values, overlay.keys, variant)
    return changed, overlay.complaints


class _Overlay:
    def __init__(self, source: Source) -> None:
        self.path = source.path
        self.origin = source
        self.tree = copy.deepcopy(source.tree)
        self.values = dict(source.values)
        self.keys = dict(source.keys)
        self.complaints: list[Complaint] = []

    def merge(
        self, base: dict[str, object], over: dict[str, object], to: Where, frm: Where
    ) -> None:
        for key, change in over.items():
            old = base.get(key)
            target, origin = (*to, key), (*frm, key)
            if change is None:
                base.pop(key, None)
            elif isinstance(old, dict) and isinstance(change, dict):
                self.merge(old, change, target, origin)
            elif isinstance(old, dict) and isinstance(change, list):
                base[key] = self._chosen(old, change, origin)
            else:
                base[key] = copy.deepcopy(change)
                self._move(self.values, self.origin.values, target, origin)
                self._move(self.keys, self.origin.keys, target, origin)

    def _chosen(
        self, old: dict[str, object], names: list[object], origin: Where
    ) -> dict[str, object]:
        for i, name in enumerate(names):
            if str(name) not in old:
                line, column = self.origin.values[(*origin, i)]
                message = f"`{name}` is not in `{origin[-1]}`"
                hint = choice_hint(str(name), old, str(origin[-1]))
                self.complaints.append(Complaint(self.path, line, column, message, hint))
        kept = {str(name) for name in names}
        if not kept <= set(old):
            return old  # complained about; leaving out by half would only cause more complaints
        return {name: part for name, part in old.items() if name in kept}

    @staticmethod
    def _move(
        places: dict[Where, Place], origin: dict[Where, Place], target: Where, frm: Where
    ) -> None:
        for where in [w for w in places if w[: len(target)] == target]:
            del places[where]
        for where, place in origin.items():
            if where[: len(frm)] == frm:
                places[(*target, *where[len(frm) :])] = place
