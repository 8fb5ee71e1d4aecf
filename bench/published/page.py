"""``docs/examples/published-conclusions.md``, from the conclusions and the kept findings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from bench.published.conclusions import (
    Ask,
    Held,
    Outcome,
    counted_outcomes,
    held,
    read_conclusions,
    study_names,
)

from steelyard.judge.findings import RunFindings
from steelyard.report.formats.markdown import escaped

CONCLUSIONS = Path(__file__).with_name("conclusions.yaml")
STUDIES = Path(__file__).parents[2] / "studies"
HEAD = """\
# Published conclusions, held against our data

What five published comparisons concluded, and what the studies that repeat them found. Each row
names the study that asks, the response, and the answer as the report of its findings words it.
`bench/published/conclusions.yaml` holds the conclusions, and which word of which finding would
agree; all else on this page is computed from the findings that are kept here, and
`make golden-accept` renews it. [make studies-full](../../studies/README.md#the-published-studies)
runs the studies.

- *Agrees*: the finding has the word that the conclusion would have. *Equivalent* within a margin of
  20 % agrees with *no difference*, and is no proof of a smaller one.
- *Does not agree*: it has another word, and its interval excludes the published size.
- *Not decided*: the finding leaves it open, was withheld or not judged, or has another word and an
  interval that holds the published size.
- *Not run*: such a machine could run the study, and no findings of it are kept.
- *Cannot be asked here*: the reason stands in place of an answer.

Not to agree refutes no one: other machines, hypervisors and years were measured. *Printed*
conclusions are read off the figures of the source; the others it states in words. What is *carried
over* was published of other workloads, is asked of another one here, and is not counted.
*Emulated*: one of the two was a guest without KVM.
"""
COLUMNS = "| published | asked by | response | answer here | |\n|---|---|---|---|---|"


def page(kept: Mapping[str, RunFindings]) -> str:
    """The whole page; ``kept`` are findings by the folder of their example."""
    sources, conclusions = read_conclusions(CONCLUSIONS)
    names = study_names(conclusions, STUDIES)
    found = [held(each, kept, names) for each in conclusions]
    parts = [HEAD, f"All published conclusions: {', '.join(counted_outcomes(found))}.\n"]
    for source, title in sources.items():
        own = [each for each in found if each.conclusion.source == source]
        parts.append(f"## {source}: {title}\n\n{COLUMNS}\n{''.join(map(_row, own))}")
    return "\n".join(parts)


def _row(each: Held) -> str:
    marks = {"printed": each.conclusion.printed, "carried over": each.conclusion.carried_over}
    cells = (
        " ".join([escaped(each.conclusion.says), *(f"*({n})*" for n, has in marks.items() if has)]),
        "" if each.ask is None else _link(each.ask, each.example),
        "" if each.ask is None else escaped(each.ask.asked),
        " ".join(_answer(each)),
        str(each.outcome) + (", emulated" if each.emulated else ""),
    )
    return f"| {' | '.join(cells)} |\n"


def _link(ask: Ask, example: str | None) -> str:
    """To the report that has the answer, else to the study that would ask."""
    folder, _, file = ask.study.partition("/")
    name = escaped(", ".join(filter(None, (folder, file, ask.variant))))
    to = f"../../studies/{folder}/README.md" if example is None else f"{example}/report.md"
    return f"[{name}]({to})"


def _answer(each: Held) -> Iterator[str]:
    if each.text:
        yield escaped(each.text)
    if each.within and each.outcome is Outcome.OPEN:
        yield "The published size is within the interval."
    if each.outcome is Outcome.CANNOT and each.conclusion.here is not None:
        why = escaped(each.conclusion.here)
        yield f"{why[:1].upper()}{why[1:]}."
