"""The part of a study that says what counts: responses, gates, limits, claims."""

from __future__ import annotations

import re
from collections.abc import Mapping

from steelyard import units
from steelyard.study import catalogue
from steelyard.study.file.complaints import Complaints, choice_hint, nearest
from steelyard.study.file.grammar import ClaimPart, StudyFile
from steelyard.study.file.kinds import Limit, shown
from steelyard.study.file.source import Where
from steelyard.study.model import (
    ClaimSpec,
    FindSpec,
    GateSpec,
    Level,
    ResponseSpec,
    WorkloadSpec,
)

_SHARE_OF = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)\s+of\s+(\S.*)", re.ASCII)
_KINDS: dict[str, units.Kind] = {
    "ratio": "share",
    "ns": "duration",
    "s": "duration",
    "bytes": "size",
}
_SCALES = {"ns": 1e9}
_COMPARED_WITH = ("faster_than", "slower_than", "equivalent_to", "no_worse_than")
_VERBS = ("at_least", "at_most", *_COMPARED_WITH, "peak_users")


def resolve_responses(
    file: StudyFile, workloads: Mapping[str, WorkloadSpec], complaints: Complaints
) -> dict[str, ResponseSpec]:
    """The responses in the order written; exactly one is primary.

    Without a mark it is the workload's own, put first when it was not named.
    """
    written = file.responses or {}
    for name in written:
        _check_response(name, ("responses", name), file, complaints)
    known = [name for name in written if name in catalogue.responses()]
    marked = [name for name in known if written[name].primary]
    for extra in marked[1:]:
        hint = f"one response decides, `{marked[0]}` is marked too: keep one mark"
        message = "more than one response is marked primary"
        complaints.add(("responses", extra), message, hint, at_key=True)
    primary = marked[0] if marked else _default_primary(workloads)
    _check_primary(primary, complaints)
    names = known if primary in known else [primary, *known]
    nouns = {workload.operation for workload in workloads.values()}
    operation = nouns.pop() if len(nouns) == 1 else "operations"
    return {
        name: catalogue.response_spec(name, operation=operation, primary=name == primary)
        for name in names
    }


def _default_primary(workloads: Mapping[str, WorkloadSpec]) -> str:
    known = catalogue.names("workloads")
    uses = (workload.use for workload in workloads.values() if workload.use in known)
    return next((catalogue.workload(use).primary for use in uses), "throughput")


def _check_response(
    name: str, where: Where, file: StudyFile, complaints: Complaints, *, at_key: bool = True
) -> bool:
    entry = catalogue.responses().get(name)
    if entry is None:
        hint = _response_hint(name)
        complaints.add(where, f"there is no response `{name}`", hint, at_key=at_key)
        return False
    if entry.source == "probe" and file.probe is None:
        hint = "add `probe: {use: smtp-probe, every: 100 ms}`, or take it out"
        complaints.add(where, f"`{name}` needs a probe, and there is none", hint, at_key=at_key)
    return True


def _response_hint(name: str) -> str:
    near = nearest(name, catalogue.responses())
    meant = f"did you mean `{near}`? " if near else ""
    families = dict.fromkeys(
        f"{family}.*" if last in catalogue.statistics() else known
        for known in catalogue.responses()
        for family, _, last in [known.rpartition(".")]
    )
    statistics = ", ".join(catalogue.statistics())
    return f"{meant}responses: {', '.join(families)}; * is one of {statistics}"


def _check_primary(primary: str, complaints: Complaints) -> None:
    entry = catalogue.responses()[primary]
    where: Where = ("responses", primary)
    if entry.direction == "none":
        hint = "neither more nor less of it is good; mark another response"
        complaints.add(where, f"`{primary}` cannot be primary", hint, at_key=True)
    elif entry.may_be_zero:
        hint = f"it may be zero, and zero has no ratio; use `gates: {{{primary}: ...}}` for it"
        complaints.add(where, f"`{primary}` cannot be primary", hint, at_key=True)


def resolve_gates(
    written: Mapping[str, Limit], where: Where, file: StudyFile, complaints: Complaints
) -> dict[str, GateSpec]:
    """Limits by response, in the unit of the response."""
    gates = {}
    for name, limit in written.items():
        place = (*where, name)
        if not _check_response(name, place, file, complaints):
            continue
        unit = catalogue.responses()[name].unit
        try:
            value = _in_unit(limit.quantity, unit)
        except units.UnitError as error:
            complaints.add(place, f"`{name}`: {error.message}", error.hint)
            continue
        kind = "at_most" if limit.side == "most" else "at_least"
        text = f"at {limit.side} {limit.quantity}" if value else "none"
        fields = {"name": name, "kind": kind, kind: value, "unit": unit, "text": text}
        gates[name] = GateSpec.model_validate(fields)
    return gates


def _in_unit(quantity: str, unit: str) -> float:
    value = units.parse(quantity, _KINDS.get(unit, "number"))
    return float(value) * _SCALES.get(unit, 1.0)


def resolve_find(file: StudyFile, complaints: Complaints) -> dict[str, FindSpec]:
    """What is looked for besides: the largest load that keeps its limits."""
    found = {}
    for name, limits in (file.find or {}).items():
        gates = resolve_gates(limits, ("find", name), file, complaints)
        found[name] = FindSpec(name=name, limits=tuple(gates.values()))
    return found


class ClaimReader:
    """Reads claims against what the study has.

    With ``forgiving`` (a variant that leaves parts out) a claim about a part that is not there
    is left out instead of complained about; the whole study has been checked by then.
    """

    def __init__(
        self,
        file: StudyFile,
        compared: tuple[Level, ...],
        factors: Mapping[str, tuple[Level, ...]],
        complaints: Complaints,
        *,
        forgiving: bool,
    ) -> None:
        self.file = file
        self.compared = [str(level) for level in compared]
        self.factors = factors
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
                self.complaints.add((*where, "id"), f"claim `{part.id}` is there twice", hint)
            seen.add(part.id)
            claim = self._claim(part, where)
            if claim is not None:
                claims.append(claim)
        return tuple(claims)

    def _claim(self, part: ClaimPart, where: Where) -> ClaimSpec | None:
        verbs = [verb for verb in _VERBS if getattr(part, verb) is not None]
        if len(verbs) != 1:
            hint = f"say one of: {', '.join(_VERBS)}"
            count = "nothing" if not verbs else "more than one thing"
            self.complaints.add(where, f"claim `{part.id}` claims {count}", hint)
            return None
        if not self._subject(part, where):
            return None
        at = self._conditions(part, where)
        verb = verbs[0]
        tail = self._tail(part, verb, (*where, verb))
        if at is None or tail is None:
            return None
        if part.response is not None:
            place = (*where, "response")
            _check_response(part.response, place, self.file, self.complaints, at_key=False)
        return ClaimSpec.model_validate(
            {
                "id": part.id,
                "kind": verb,
                "subject": part.system,
                "every_level_of": part.every_level_of,
                "excepted": tuple(part.except_ or ()),
                "response": part.response,
                "at": at,
                **tail,
            }
        )

    def _subject(self, part: ClaimPart, where: Where) -> bool:
        if (part.system is None) == (part.every_level_of is None):
            hint = "add `system: NAME`, or `every_level_of: FACTOR`"
            self.complaints.add(where, f"claim `{part.id}` needs one subject", hint)
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
        if level in self.compared:
            return True
        if not self.forgiving:
            hint = choice_hint(level, self.compared, "compared")
            self.complaints.add(where, f"{shown(level)} is not compared in this study", hint)
        return False

    def _conditions(self, part: ClaimPart, where: Where) -> dict[str, Level] | None:
        at: dict[str, Level] = {}
        for key, wanted in (part.at or {}).items():
            place = (*where, "at", key)
            name = key if key in self.factors else f"load.{key}"
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

    def _tail(self, part: ClaimPart, verb: str, where: Where) -> dict[str, object] | None:
        written = str(getattr(part, verb))
        if verb in _COMPARED_WITH:
            return {"other": written} if self._known(written, where) else None
        if verb == "peak_users":
            return self._peak(written, where)
        match = _SHARE_OF.fullmatch(written.strip())
        if match is None:
            hint = "write `0.95 of NAME`"
            self.complaints.add(where, f"{shown(written)} is not a share of a system", hint)
            return None
        return (
            {"factor": float(match[1]), "other": match[2]} if self._known(match[2], where) else None
        )

    def _peak(self, written: str, where: Where) -> dict[str, object] | None:
        try:
            levels = units.parse_range(written, "count")
        except units.UnitError as error:
            self.complaints.add(where, error.message, "write `30..70`")
            return None
        return {"low": float(levels[0]), "high": float(levels[-1])}
