"""A verification as lines: one for each part, what was checked and what came of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from steelyard.publication.check import Check, State, Verification

_WORDS: Mapping[str, str] = {
    "digests_fit": "{files} files are what SHA256SUMS says; nothing else is there",
    "files_differ": "not what SHA256SUMS says",
    "sums_missing": "SHA256SUMS is missing",
    "sums_damaged": "{said}",
    "subjects_fit": "in-toto Statement v1, {subjects} subjects as stated; {signed}",
    "subjects_differ": "digests are not those of the statement: {subjects}",
    "facts_differ": "the records say otherwise of: {fields}",
    "no_commitment": "the run was made without",
    "no_commitment_to_compare": "the run was made without, so it is not the one that was posted",
    "commitment_fits": "{digest} opens to this study, plan and seed; when it was made is for who "
    "dated it: give the posted digest with --commitment",
    "commitment_fits_posted": "{digest}, as posted, opens to this study, plan and seed",
    "commitment_differs": "it does not open to what is published: {parts}",
    "posted_differs": "this run has {digest}, not the digest that was posted",
    "order_redrawn": "{visits} visits, drawn again from study and seed {seed}: the same",
    "order_differs": "study and seed give another plan: {parts}",
    "order_unreadable": "{said}",
    "order_of_another_version": "steelyard {version} drew it, and this version draws it otherwise",
    "records_whole": "{attempts} attempts and {events} events, whole, each at its planned trial",
    "records_damaged": "{said}",
    "records_unplanned": "the plan has other visits or cells for the trials {trials}",
    "records_withheld": "the records are withheld",
    "imported": "another tool measured it, in an order that no one recorded",
    "same_bits": "judged again from the records: the same {bytes} bytes",
    "not_judged": "the records cannot be judged: {said}",
    "findings_missing": "{said}",
    "findings_differ": "judged again: {fields} values differ{size}: {first}",
    "judged_by_another_version": "steelyard {version} judged it, and here {fields} values differ"
    "{size}; install that version to replay it",
    "report_made_again": "{files} files, made again from the findings: the same",
    "report_differs": "not what the findings give: {files}",
    "report_of_another_version": "steelyard {version} made it, and this one writes it otherwise",
}
_STATES = {State.OK: "ok", State.FAILED: "FAILED", State.NOT_CHECKED: "not checked"}


def lines_of(found: Verification) -> Iterator[str]:
    """The run, each part, and what it comes to."""
    yield f"{found.run}"
    for check in found.checks:
        yield f"{_STATES[check.state]:<12}{check.part:<11} {_words(check)}"
        if check.kind == "files_differ":
            yield from _named_files(check.figures)
    if found.failed:
        yield "what is published does not fit together"
    elif found.replayed:
        yield "the findings follow from the records"
    else:
        yield "nothing contradicts, but the findings were not replayed here"


def _words(check: Check) -> str:
    figures = {name: _listed(value) for name, value in check.figures.items()}
    signed = check.figures.get("signatures") or ()
    figures["signed"] = f"signed by {', '.join(signed)}, not checked here" if signed else "unsigned"
    relative = check.figures.get("largest_relative")
    figures["size"] = "" if relative is None else f", numbers by at most {relative:.1e} of them"
    return _WORDS[check.kind].format(**figures)


def _listed(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _named_files(figures: Mapping[str, Any]) -> Iterator[str]:
    named = {
        "missing": "missing",
        "changed": "changed",
        "unlisted": "not listed",
        "no_files": "a link or a device",
    }
    for name, words in named.items():
        for path in figures[name]:
            yield f"{'':<12}{words}: {path}"
        more = figures["counts"][name] - len(figures[name])
        if more:
            yield f"{'':<12}{words}: {more} more"
