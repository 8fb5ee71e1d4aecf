"""Every reader of bytes that a person, a tool, an agent or a damaged disk may have written.

A reader returns, or raises one of the errors that its caller turns into one message. Anything else
is a defect.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError
from tests.unit.workloads.test_real_outputs import CASES as OUTPUTS
from tests.unit.workloads.test_real_outputs import read as read_output
from tests.unit.workloads.test_real_outputs import texts_of

from steelyard.engine import messages
from steelyard.errors import EngineError, RecordError, StudyError
from steelyard.imports.kind import kind, names
from steelyard.imports.metrics import OutputError
from steelyard.imports.reading import parse_file
from steelyard.plan.model import Plan
from steelyard.records.archive import RunFacts
from steelyard.records.files.documents import parsed
from steelyard.records.files.migration import facts_of_1, plan_of_1, record_of_1
from steelyard.records.ledger import read_ledger
from steelyard.records.schema import TrialRecord
from steelyard.study.read import read_study_bytes

TESTS = Path(__file__).parents[1]
GIVEN = Path("given")
ANSWERS = (
    messages.Hello, messages.Started, messages.ProcessState, messages.Ran, messages.FileContent,
    messages.PathFacts, messages.Facts, messages.Clock, messages.LoadResult, messages.Samples,
    messages.ThreadPlaces,
)  # fmt: skip


@dataclass(frozen=True)
class Reader:
    """``read`` gets bytes and a folder of its own; ``seeds`` are what was really written."""

    read: Callable[[bytes, Path], object]
    seeds: tuple[Path, ...]
    refuses: tuple[type[Exception], ...]


def _ledger(data: bytes, folder: Path) -> object:
    path = folder / "ledger.jsonl"
    path.write_bytes(data)
    return read_ledger(path)


def _agent(data: bytes, _: Path) -> object:
    for line in data.splitlines():
        reply = messages.Reply.model_validate_json(line)
        for model in ANSWERS:
            try:
                messages.as_answered(model, reply.ok)
            except EngineError:
                continue
    return None


def _output(case: Path) -> Callable[[bytes, Path], object]:
    texts = texts_of(case)

    def read(data: bytes, _: Path) -> object:
        return read_output(case, texts | {"stdout": data.decode(errors="replace")})

    return read


def _imported(name: str) -> Callable[[bytes, Path], object]:
    return lambda data, _: parse_file(data, GIVEN, name, kind(name))


def _runs(name: str) -> tuple[Path, ...]:
    return tuple(sorted((TESTS / "records").glob(f"v*/{name}")))


def readers() -> dict[str, Reader]:
    """By name, which is that of their folder in ``tests/cases/mutated``."""
    record = (RecordError,)
    found = {
        "study": Reader(
            lambda data, _: read_study_bytes(data, GIVEN),
            tuple(sorted((TESTS / "cases" / "study" / "examples").glob("*.yaml"))),
            (StudyError,),
        ),
        "ledger": Reader(_ledger, _runs("ledger.jsonl"), record),
        "run": Reader(
            lambda data, _: parsed(data, GIVEN, RunFacts, facts_of_1), _runs("run.json"), record
        ),
        "plan": Reader(
            lambda data, _: parsed(data, GIVEN, Plan, plan_of_1), _runs("plan.json"), record
        ),
        "record": Reader(
            lambda data, _: parsed(data, GIVEN, TrialRecord, record_of_1),
            _runs("trials/*/record.json")[::7],
            record,
        ),
        "agent": Reader(_agent, (TESTS / "wire" / "agent-replies.jsonl",), (ValidationError,)),
    }
    for case in OUTPUTS:
        name, seed = f"output-{case.parent.name}", case / "stdout.txt"
        if seed.exists() and name not in found:
            found[name] = Reader(_output(case), (seed,), (OutputError,))
    for name in names():
        seeds = sorted((TESTS / "cases" / "imports" / name).glob("*"))
        files = tuple(path for path in seeds if path.is_file() and path.name != "read.json")
        if files:
            found[f"import-{name}"] = Reader(_imported(name), files[:2], (StudyError,))
    return found
