"""The sentences of a study that the data must support."""

from __future__ import annotations

import re
from collections.abc import Mapping

from steelyard import units
from steelyard.study.file.complaints import Complaints, choice_hint
from steelyard.study.file.grammar import ClaimPart, StudyFile
from steelyard.study.file.kinds import shown
from steelyard.study.file.source import Where
from steelyard.study.labels import name_of
from steelyard.study.model import WORKLOAD, ClaimSpec, Level, MeasuredSpec
from steelyard.study.resolve.entries import responses_for
from steelyard.study.resolve.workloads.responses import check_response

_SHARE_OF = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)\s+of\s+(\S.*)", re.ASCII)
_COMPARED_WITH = ("faster_than", "slower_than", "equivalent_to", "no_worse_than")
_OF_A_DIRECTION = ("faster_than", "slower_than", "no_worse_than")
_DISTANCE_OF = re.compile(r"([0-9]{1,4}(?:\.[0-9]{1,9})?)\s*%\s+of\s+(\S.*)", re.ASCII)
_VERBS = ("at_least", "at_most", *_COMPARED_WITH, "within", "peak_users")


class ClaimReader:
    """Reads claims against what the study has.

    With ``forgiving`` (a variant that leaves parts out) a claim about a part that is not there
    is left out instead of complained about; the whole study has been checked by then.
    """

    def __init__(
        self,
        file: StudyFile,
        compared: Mapping[str, Level],
        factors: Mapping[str, tuple[Level, ...]],
        measured: Mapping[str, MeasuredSpec],
        complaints: Complaints,
        *,
        forgiving: bool,
    ) -> None:
        self.file = file
        self.compared = compared
        self.factors = factors
        self.measured = measured
        self.complaints = complaints
        self.forgiving = forgiving

    def read(self) -> tuple[ClaimSpec, ...]:
        """All claims that can be judged here."""
        claims = []
        seen: set[str] = set()
        for i, part in enumerate(self.file.claims or []):
            where: Where = ("claims", i)
            if part.id in seen:
                hint = "give each claim its own name"
                self.complaints.add((*where, "id"), f"claim `{part.id}` is given twice", hint)
            seen.add(part.id)
            claim = self._claim(part, where)
            if claim is not None:
                claims.append(claim)
        return tuple(claims)

    def _claim(self, part: ClaimPart, where: Where) -> ClaimSpec | None:
        verbs = [verb for verb in _VERBS if getattr(part, verb) is not None]
        if len(verbs) != 1:
            hint = f"write one of: {', '.join(_VERBS)}"
            count = "no statement" if not verbs else "more than one statement"
            self.complaints.add(where, f"claim `{part.id}` makes {count}", hint)
            return None
        if not self._subject(part, where):
            return None
        at = self._conditions(part, where)
        verb = verbs[0]
        tail = self._tail(part, verb, (*where, verb))
        if at is None or tail is None or not self._workload(part, at, where):
            return None
        if not self._response(part, verb, at, where) or not self._sense(part, verb, tail, where):
            return None
        if not self._without(part, verb, where):
            return None
        return ClaimSpec.model_validate(
            {
                "id": part.id,
                "kind": verb,
                "subject": self._name(part.system),
                "every_level_of": part.every_level_of,
                "excepted": tuple(map(self._name, part.except_ or ())),
                "response": part.response,
                "at": at,
                "without": tuple(dict.fromkeys(part.without or ())),
                **tail,
                "other": self._name(tail.get("other")),
            }
        )

    def _name(self, written: object) -> object:
        """That of a compared level, however it is written; of nothing, nothing."""
        return name_of(written, self.compared) or written if isinstance(written, str) else written

    def _workload(self, part: ClaimPart, at: Mapping[str, Level], where: Where) -> bool:
        """Whether it says of which of several workloads it speaks."""
        if WORKLOAD not in self.factors or WORKLOAD in at:
            return True
        names = ", ".join(str(level) for level in self.factors[WORKLOAD])
        hint = f"add `at: {{workload: NAME}}`; workloads: {names}"
        message = f"claim `{part.id}` does not name its workload"
        self.complaints.add(where, message, hint)
        return False

    def _response(self, part: ClaimPart, verb: str, at: Mapping[str, Level], where: Where) -> bool:
        """Whether the response is one of the study, and one of which the claim makes sense."""
        name = part.response
        place = (*where, "response")
        if name is None or not self.measured:
            return True
        if not check_response(name, place, self.file, self.complaints, at_key=False):
            return False
        if name not in self.measured[str(at.get(WORKLOAD, next(iter(self.measured))))].responses:
            hint = f"add it: `responses: {{{name}: {{}}}}`"
            whose = f"workload `{at[WORKLOAD]}`" if WORKLOAD in at else "this study"
            self.complaints.add(place, f"`{name}` is not a response of {whose}", hint)
            return False
        entry = responses_for(self.file, self.complaints)[name]
        if entry.may_be_zero:
            guardrail = f"`judge: {{guardrails: {{{name}: ...}}}}`"
            hint = f"it may be zero, and zero has no ratio; use {guardrail}"
            self.complaints.add(place, f"a claim cannot use `{name}`", hint)
        elif entry.direction == "none" and verb in _OF_A_DIRECTION:
            hint = "it has no better direction; write at_least, at_most or within"
            self.complaints.add(place, f"`{name}` cannot be faster or slower", hint)
        else:
            return True
        return False

    def _sense(self, part: ClaimPart, verb: str, tail: dict[str, object], where: Where) -> bool:
        """Whether there is somebody else to be compared with, or a curve that may peak."""
        if part.system is not None and tail.get("other") == part.system:
            hint = "name another system"
            self.complaints.add(
                (*where, verb), f"{shown(part.system)} is compared with itself", hint
            )
        elif verb == "peak_users" and part.system is None:
            hint = "write one claim for each system"
            self.complaints.add((*where, verb), "`peak_users` needs a `system`", hint)
        elif verb == "peak_users" and "load.users" not in self.factors:
            hint = "write `load: {users: [1, 4, 16, 64]}`, or take it out"
            self.complaints.add((*where, verb), "`peak_users` needs levels of users", hint)
        else:
            return True
        return False

    def _without(self, part: ClaimPart, verb: str, where: Where) -> bool:
        """Whether what a subject is to be without is looked for."""
        place = (*where, "without")
        if part.without and verb == "peak_users":
            hint = "write it with another claim, such as `no_worse_than`"
            self.complaints.add(place, "`without` has no place next to `peak_users`", hint)
            return False
        defaults = self.file.defaults
        disks = any(each.disks for each in self.file.systems.values())
        if "damage" in (part.without or ()) and not disks and not (defaults and defaults.disks):
            hint = "give the systems `disks: {data: {}}`, which are checked, or take `damage` out"
            self.complaints.add(place, "no system has a disk that could be checked", hint)
            return False
        return True

    def _subject(self, part: ClaimPart, where: Where) -> bool:
        if (part.system is None) == (part.every_level_of is None):
            hint = "add `system: NAME`, or `every_level_of: FACTOR`"
            self.complaints.add(
                where, f"claim `{part.id}` needs `system` or `every_level_of`", hint
            )
            return False
        if part.system is not None:
            return self._known(part.system, (*where, "system"))
        compare = self.file.compare or "system"
        if part.every_level_of != compare:
            message = f"`{part.every_level_of}` is not the factor that is compared"
            hint = f"this study compares `{compare}`"
            self.complaints.add((*where, "every_level_of"), message, hint)
            return False
        place = (*where, "except")
        found = [self._known(level, (*place, i)) for i, level in enumerate(part.except_ or [])]
        return self.forgiving or all(found)

    def _known(self, level: str, where: Where) -> bool:
        if name_of(level, self.compared) is not None:
            return True
        if not self.forgiving:
            hint = choice_hint(level, list(self.compared), "compared")
            self.complaints.add(where, f"{shown(level)} is not compared in this study", hint)
        return False

    def _conditions(self, part: ClaimPart, where: Where) -> dict[str, Level] | None:
        at: dict[str, Level] = {}
        for key, wanted in (part.at or {}).items():
            place = (*where, "at", key)
            name = key if key in self.factors else self._full(key, part)
            if name not in self.factors and self.forgiving:
                return None
            if name not in self.factors:
                short = [factor.removeprefix("load.") for factor in self.factors]
                hint = choice_hint(key, short, "factors")
                self.complaints.add(place, f"there is no factor `{key}`", hint, at_key=True)
                return None
            levels = {str(level): level for level in self.factors[name]}
            if wanted not in levels:
                if not self.forgiving:
                    hint = f"levels: {', '.join(levels)}"
                    self.complaints.add(place, f"`{wanted}` is not a level of `{name}`", hint)
                return None
            at[name] = levels[wanted]
        return at

    def _full(self, key: str, part: ClaimPart) -> str:
        """``users`` is ``load.users``; a setting is one of the workload that the claim names."""
        own = f"workloads.{(part.at or {}).get(WORKLOAD)}.{key}"
        return own if own in self.factors else f"load.{key}"

    def _tail(self, part: ClaimPart, verb: str, where: Where) -> dict[str, object] | None:
        written = str(getattr(part, verb))
        if verb in _COMPARED_WITH:
            return {"other": written} if self._known(written, where) else None
        if verb == "peak_users":
            return self._peak(written, where)
        if verb == "within":
            return self._within(written, where)
        match = _SHARE_OF.fullmatch(written.strip())
        if match is None:
            hint = "write `0.95 of NAME`"
            self.complaints.add(where, f"{shown(written)} is not a share of a system", hint)
            return None
        if not float(match[1]):
            self.complaints.add(where, "the share must be above 0", "write `0.95 of NAME`")
            return None
        return (
            {"factor": float(match[1]), "other": match[2]} if self._known(match[2], where) else None
        )

    def _within(self, written: str, where: Where) -> dict[str, object] | None:
        match = _DISTANCE_OF.fullmatch(written.strip())
        if match is None or not float(match[1]):
            hint = "write `3 % of NAME`"
            message = f"{shown(written)} is not a distance from a system"
            if match is not None:
                message = "the distance must be above 0"
            self.complaints.add(where, message, hint)
            return None
        found = {"factor": float(match[1]) / 100, "other": match[2]}
        return found if self._known(match[2], where) else None

    def _peak(self, written: str, where: Where) -> dict[str, object] | None:
        try:
            levels = units.parse_range(written, "count")
        except units.UnitError as error:
            self.complaints.add(where, error.message, "write `30..70`")
            return None
        return {"low": float(levels[0]), "high": float(levels[-1])}
