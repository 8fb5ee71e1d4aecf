"""Problems that a run found, each ready to be filed: in Markdown, and in JSON for a script.

An item says what is wrong and how much, where it was measured, how to measure it again, and what
differs between the systems. Both files are there also when nothing is wrong, without an item.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from dataclasses import asdict

from steelyard.judge.findings import RunFindings
from steelyard.report.formats.markdown import bullets, escaped, grid
from steelyard.report.problems import Problem, problems
from steelyard.report.tables.environment import environment_table
from steelyard.report.tables.responses import difference_table

MARKDOWN, DATA = "bugs.md", "bugs.json"


def bugs_files(run: RunFindings) -> dict[str, str | bytes]:
    """Both files."""
    found = problems(run)
    rows = [asdict(each) | {"body": _body(each, run)} for each in found]
    items = (f"# {escaped(each.title)}\n\n{_body(each, run)}" for each in found)
    return {
        MARKDOWN: "\n".join(items),
        DATA: json.dumps(rows, indent=2, ensure_ascii=False) + "\n",
    }


def _body(problem: Problem, run: RunFindings) -> str:
    return "\n\n".join(part for part in _parts(problem, run) if part) + "\n"


def _parts(problem: Problem, run: RunFindings) -> Iterator[str]:
    yield bullets(problem.said)
    concerned = _concerned(problem, run)
    machines = environment_table(concerned)
    if machines.rows:
        yield "## Where"
        yield grid(machines)
    yield "## How to measure it again"
    yield _command(run)
    yield bullets(_versions(concerned))
    if len(concerned.systems) > 1:
        differences = difference_table(concerned)
        yield f"## What differs between {escaped(' and '.join(concerned.systems))}"
        yield grid(differences) if differences.rows else "No recorded fact."


def _concerned(problem: Problem, run: RunFindings) -> RunFindings:
    """The same run as if it had the systems of the problem alone, that on the right side last."""
    if problem.system is None:
        return run.model_copy(update={"differences": (), "systems": run.systems[:1]})
    against = problem.against or (run.baseline if run.baseline != problem.system else None)
    pair = tuple(each for each in (against, problem.system) if each is not None)
    unlike = [each for each in run.differences
              if len({each.values.get(system) for system in pair}) > 1]  # fmt: skip
    machines = [each for each in run.machines if set(each.systems) & set(pair)]
    changes = {"systems": pair, "differences": tuple(unlike), "machines": tuple(machines)}
    return run.model_copy(update=changes)


def _command(run: RunFindings) -> str:
    """What repeats the order of the run, in a fence; nothing of numbers that were imported."""
    if run.stop.reason == "imported":
        return ""
    words = ["steelyard", "run", "study.yaml", "--seed", str(run.seed)]
    words += ["--variant", run.variant] if run.variant else []
    return "\n".join(["```", " ".join(shlex.join(words).split()), "```"])


def _versions(run: RunFindings) -> Iterator[str]:
    variant = f", variant {run.variant}" if run.variant else ""
    yield f"Study {run.study}{variant}, sha256 {run.study_sha256}"
    yield f"Run {run.run}, measured by Steelyard {run.measured_by or run.tool_version}"
    for system in run.systems:
        facts = run.tested.get(system, {})
        told = "; ".join(f"{fact} {', '.join(values)}" for fact, values in facts.items())
        if told:
            yield f"{system}: {told}"
