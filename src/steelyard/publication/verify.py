"""A publication is verified: digests, statement, commitment, order, records, findings, report.

Each part is checked whether or not another failed, and says what it found.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from steelyard import __version__
from steelyard.errors import RecordError, SteelyardError
from steelyard.plan.budget import with_time
from steelyard.plan.make import make_plan
from steelyard.publication.check import Check, Part, Verification, failed, not_checked, ok
from steelyard.publication.differences import Difference, differences
from steelyard.publication.folder import (
    FINDINGS,
    FORMS,
    REPORT,
    RESULTS,
    STATEMENT,
    digest_of,
    is_own,
    records_sha256,
)
from steelyard.publication.opened import Publication, opened
from steelyard.records.files.checksums import SUMS, read_sums
from steelyard.records.planned_study import study_of_run
from steelyard.report.formats.registry import FORMATS, write_report
from steelyard.report.from_run import stored
from steelyard.report.notes import json_text

_MOST_NAMED = 20


def verify(
    folder: Path, posted: str | None = None, parts: Sequence[Part] = tuple(Part)
) -> Verification:
    """All checks of the publication in ``folder``, or those of some parts.

    ``posted`` is the digest of the commitment as it stands where a third party dated it.

    Raises:
        RecordError: the folder is no publication, or one of a later version.
    """
    publication = opened(folder)
    checks = tuple(check for part in parts for check in _CHECKS[part](publication, posted))
    predicate = publication.statement.predicate
    return Verification(predicate.study, predicate.run, checks)


def _files(publication: Publication, _: str | None) -> Iterator[Check]:
    """Every file is listed, and is what the list says; nothing else is there."""
    if SUMS not in publication.listed.files:
        yield failed(Part.FILES, "sums_missing")
        return
    try:
        sums = dict(read_sums(publication.folder) or {})
    except RecordError as error:
        yield failed(Part.FILES, "sums_damaged", said=error.message)
        return
    there = {name: digest for name, digest in publication.digests.items() if not is_own(name)}
    wrong = {
        "missing": sorted(set(sums) - set(there)),
        "changed": sorted(name for name in set(sums) & set(there) if sums[name] != there[name]),
        "unlisted": sorted(set(there) - set(sums)),
        "no_files": list(publication.listed.others),
    }
    if any(wrong.values()):
        counts = {name: len(names) for name, names in wrong.items()}
        named = {name: names[:_MOST_NAMED] for name, names in wrong.items()}
        yield failed(Part.FILES, "files_differ", counts=counts, **named)
        return
    yield ok(Part.FILES, "digests_fit", files=len(sums))


def _statement(publication: Publication, _: str | None) -> Iterator[Check]:
    """Its subjects are the files that are there, and what it says of the run is so."""
    statement, digests = publication.statement, publication.digests
    wrong = [
        each.name for each in statement.subject if digests.get(each.name) != each.digest.sha256
    ]
    named = {each.name for each in statement.subject}
    wrong += sorted({SUMS, FINDINGS} - named)
    if not publication.withheld and statement.predicate.records_sha256 != records_sha256(digests):
        wrong.append(RESULTS)
    if wrong:
        yield failed(Part.STATEMENT, "subjects_differ", subjects=wrong[:_MOST_NAMED])
        return
    wrong = [] if publication.withheld else list(_wrong_facts(publication))
    if wrong:
        yield failed(Part.STATEMENT, "facts_differ", fields=wrong)
        return
    signed = sorted(n for n in publication.listed.files if is_own(n) and n not in {SUMS, STATEMENT})
    yield ok(Part.STATEMENT, "subjects_fit", subjects=len(statement.subject), signatures=signed)


def _wrong_facts(publication: Publication) -> Iterator[str]:
    predicate = publication.statement.predicate
    try:
        facts, attempts = publication.run.facts(), len(publication.run.records())
    except SteelyardError:  # the check of the records says it
        return
    said = (predicate.study, predicate.study_sha256, predicate.seed, predicate.attempts)
    are = (facts.study, facts.study_sha256, facts.seed, attempts)
    names = ("study", "study_sha256", "seed", "attempts")
    yield from (name for name, one, other in zip(names, said, are, strict=True) if one != other)


def _commitment(publication: Publication, posted: str | None) -> Iterator[Check]:
    """It is opened: study, plan and seed are those that its digest was made of."""
    predicate = publication.statement.predicate
    made = predicate.commitment
    if made is None:
        kind = "no_commitment" if posted is None else "no_commitment_to_compare"
        yield (not_checked if posted is None else failed)(Part.COMMITMENT, kind)
        return
    wrong = [] if predicate.commitment_sha256 == made.digest else ["digest"]
    wrong += [] if made.seed == predicate.seed else ["seed"]
    wrong += [] if made.study_sha256 == predicate.study_sha256 else ["study"]
    if not publication.withheld:
        wrong += _not_committed_to(publication)
    if wrong:
        yield failed(Part.COMMITMENT, "commitment_differs", parts=sorted(set(wrong)))
    elif posted is not None and posted.removeprefix("sha256:").lower() != made.digest:
        yield failed(Part.COMMITMENT, "posted_differs", digest=made.digest)
    else:
        kind = "commitment_fits" if posted is None else "commitment_fits_posted"
        yield ok(Part.COMMITMENT, kind, digest=made.digest)


def _not_committed_to(publication: Publication) -> list[str]:
    made = publication.statement.predicate.commitment
    try:
        run = publication.run
        kept = run.commitment()
        files = {"study": run.study_path, "plan": run.path / "plan.json"}
        digests = {
            name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in files.items()
        }
    except (SteelyardError, OSError):
        return ["records"]
    wanted = {} if made is None else {"study": made.study_sha256, "plan": made.plan_sha256}
    wrong = [name for name, digest in wanted.items() if digests[name] != digest]
    return wrong if kept == made else [*wrong, "records"]


def _order(publication: Publication, _: str | None) -> Iterator[Check]:
    """The plan is drawn again from study and seed."""
    if publication.withheld:
        yield not_checked(Part.ORDER, "records_withheld")
        return
    try:
        run = publication.run
        if run.is_import:
            yield not_checked(Part.ORDER, "imported")
            return
        facts, plan = run.facts(), run.planned()
        study = study_of_run(run)
        within = study if plan.budget_time_s is None else with_time(study, plan.budget_time_s)
        drawn = make_plan(within, facts.seed)
    except SteelyardError as error:
        yield failed(Part.ORDER, "order_unreadable", said=error.message)
        return
    parts = ("design", "systems", "conditions", "assignment", "visits", "searches", "screen")
    wrong = [name for name in parts if getattr(drawn, name) != getattr(plan, name)]
    if not wrong:
        visits = len(plan.every_visit)
        yield ok(Part.ORDER, "order_redrawn", visits=visits, seed=facts.seed)
    elif facts.tool_version != __version__:
        yield not_checked(Part.ORDER, "order_of_another_version", version=facts.tool_version)
    else:
        yield failed(Part.ORDER, "order_differs", parts=wrong)


def _records(publication: Publication, _: str | None) -> Iterator[Check]:
    """Every attempt is whole, in the ledger, and at the trial that the plan has."""
    if publication.withheld:
        yield not_checked(Part.RECORDS, "records_withheld")
        return
    try:
        run = publication.run
        if run.is_import:
            yield not_checked(Part.RECORDS, "imported")
            return
        planned = {
            trial.trial: (visit.visit, trial.cell)
            for visit in run.plan().every_visit
            for trial in visit.trials
        }
        records, events = run.records(), run.events()
    except SteelyardError as error:
        yield failed(Part.RECORDS, "records_damaged", said=error.message)
        return
    wrong = [r.trial for r in records if planned.get(r.trial) != (r.visit, r.cell)]
    if wrong:
        yield failed(Part.RECORDS, "records_unplanned", trials=wrong[:_MOST_NAMED])
    else:
        yield ok(Part.RECORDS, "records_whole", attempts=len(records), events=len(events))


def _findings(publication: Publication, _: str | None) -> Iterator[Check]:
    """The judge is run again: bit for bit the same."""
    if publication.withheld:
        yield not_checked(Part.FINDINGS, "records_withheld")
        return
    path = publication.folder / FINDINGS
    try:
        published = path.read_bytes()
        found = publication.found
    except SteelyardError as error:
        yield failed(Part.FINDINGS, "not_judged", said=error.message)
        return
    except OSError as error:
        yield failed(Part.FINDINGS, "findings_missing", said=error.strerror)
        return
    again = (json_text(found, found.labels) + "\n").encode()
    if again == published:
        yield ok(Part.FINDINGS, "same_bits", bytes=len(again))
        return
    wrong = differences(published, again)
    judged_by = publication.statement.predicate.judged_by
    if judged_by != __version__:
        yield not_checked(
            Part.FINDINGS, "judged_by_another_version", version=judged_by, **_figures(wrong)
        )
    else:
        yield failed(Part.FINDINGS, "findings_differ", **_figures(wrong))


def _figures(wrong: list[Difference]) -> dict[str, object]:
    """``largest_relative``: of numbers; ``None`` where something else differs, too."""
    sizes = [each.relative for each in wrong]
    known = [size for size in sizes if size is not None]
    return {
        "fields": len(wrong),
        "first": [each.path for each in wrong[:_MOST_NAMED]],
        "largest_relative": max(known, default=None) if len(known) == len(sizes) else None,
    }


def _report(publication: Publication, _: str | None) -> Iterator[Check]:
    """Pages and tables are made again from the published findings."""
    folder = publication.folder
    try:
        findings = stored(folder / FINDINGS)
    except SteelyardError as error:
        yield failed(Part.REPORT, "findings_missing", said=error.message)
        return
    made_by_this = publication.statement.predicate.judged_by == __version__
    with tempfile.TemporaryDirectory() as made:
        write_report(findings, Path(made), FORMS, beside_records=False)
        wrong = [
            FORMATS[form].file
            for form in FORMS
            if publication.digests.get(f"{REPORT}/{FORMATS[form].file}")
            != digest_of(Path(made, FORMATS[form].file))
        ]
    if not wrong:
        yield ok(Part.REPORT, "report_made_again", files=len(FORMS))
    elif made_by_this:
        yield failed(Part.REPORT, "report_differs", files=wrong)
    else:
        version = publication.statement.predicate.judged_by
        yield not_checked(Part.REPORT, "report_of_another_version", version=version)


_CHECKS: Mapping[Part, Callable[[Publication, str | None], Iterator[Check]]] = {
    Part.FILES: _files,
    Part.STATEMENT: _statement,
    Part.COMMITMENT: _commitment,
    Part.ORDER: _order,
    Part.RECORDS: _records,
    Part.FINDINGS: _findings,
    Part.REPORT: _report,
}
