"""How a study is judged and how its report is cut."""

from __future__ import annotations

from collections.abc import Mapping

from steelyard.study.file.complaints import Complaints, choice_hint
from steelyard.study.file.grammar import ReportPart, StudyFile
from steelyard.study.model import JudgeSpec, ReportSpec
from steelyard.study.resolve.trials import given


def resolve_judge(file: StudyFile) -> JudgeSpec:
    """How records become verdicts; the guardrails are those of each workload."""
    written = given(file.judge)
    return JudgeSpec.model_validate({n: each for n, each in written.items() if n != "guardrails"})


def resolve_report(
    file: StudyFile, factors: Mapping[str, object], complaints: Complaints
) -> ReportSpec:
    """How the report is cut; by factors that the study has."""
    part, compare = file.report or ReportPart(), file.compare or "system"
    conditions = {*factors, *({"system"} if len(file.systems) > 1 else ())} - {compare}
    _check_cut("sections_by", part.sections_by, {*conditions, compare}, complaints)
    if part.means_by is not None and part.means_by in {compare, part.sections_by}:
        message = f"`means_by` cannot be `{part.means_by}`: it is compared, or is `sections_by`"
        hint = choice_hint("", sorted(conditions - {part.sections_by}), "conditions")
        complaints.add(("report", "means_by"), message, hint)
    else:
        _check_cut("means_by", part.means_by, conditions, complaints)
    if part.notes is not None and part.sections_by is None:
        hint = "add `sections_by`: a note belongs to a section"
        complaints.add(("report", "notes"), "`notes` needs `sections_by`", hint)
    return ReportSpec.model_validate(given(part))


def _check_cut(key: str, name: str | None, known: set[str], complaints: Complaints) -> None:
    if name is not None and name not in known:
        hint = choice_hint(name, sorted(known), "factors")
        complaints.add(("report", key), f"there is no factor `{name}`", hint)
