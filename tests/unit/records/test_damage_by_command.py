"""Whatever is done to a file of a run, each command that reads runs names the file, or the run, and
what to do; nothing is half written.

Every command meets every fault of every file: cut, a bit flipped, of a later version with its
digests made anew, and that of another run.
"""

from __future__ import annotations

import json
import shutil
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import pytest
from tests.unit.publication.conftest import recorded, with_sums
from typer.testing import CliRunner

from steelyard.cli.main import app
from steelyard.records.archive import Run
from steelyard.records.compaction import compact
from steelyard.records.events import Event
from steelyard.records.files.packed import packed_bytes, packed_files, read_all_packed
from steelyard.records.ledger import read_ledger
from steelyard.records.ledger_lines import line_of
from steelyard.web.making import Refused, fingerprint_of, make

RECORD = "trials/0003-1/record.json"
LOAD = "trials/0003-1/load.json"
PACKED = "packed/0001.parquet"
FILES = ("run.json", "plan.json", "study.yaml", "commitment.json", "ledger.jsonl", RECORD, LOAD)
FAULTS = ("cut", "flipped", "newer", "swapped")
OF_A_VERSION = ("run.json", "plan.json", "ledger.jsonl", RECORD)
NOT_READ = {("query", LOAD, fault) for fault in FAULTS}
"""What the command has no use for."""


@dataclass(frozen=True)
class Lab:
    """A run that is damaged, one that is whole, and another of which files are taken."""

    damaged: Run
    whole: Run
    other: Run

    @property
    def results(self) -> Path:
        return self.damaged.path.parents[1]


def lines_of(events: Sequence[Event], crc: int = 0) -> bytes:
    """As a ledger of today has them."""
    lines = []
    for event in events:
        line, crc = line_of(event, crc)
        lines.append(line)
    return b"".join(lines)


def mirrored(run: Run) -> Run:
    """Made another run of the same study: each trial is of the other system, and was later."""
    folders = sorted((run.path / "trials").iterdir())
    systems = {"fast": "durable", "durable": "fast"}
    for folder in folders:
        path = folder / "record.json"
        record = json.loads(path.read_text("utf-8"))
        record["cell"]["system"] = systems[record["cell"]["system"]]
        record["started_unix_ns"] += 1
        path.write_text(json.dumps(record), "utf-8")
        load = folder / "load.json"
        load.write_bytes(load.read_bytes() + b"\n")
    for name in ("run.json", "plan.json"):
        document = json.loads((run.path / name).read_text("utf-8"))
        (run.path / name).write_text(json.dumps({**document, "seed": 8}), "utf-8")
    study = run.path / "study.yaml"
    study.write_text(study.read_text("utf-8") + "# another\n", "utf-8")
    commitment = json.loads((run.path / "commitment.json").read_text("utf-8"))
    (run.path / "commitment.json").write_text(json.dumps({**commitment, "seed": 8}), "utf-8")
    lines = run.ledger_path.read_text("utf-8").splitlines(keepends=True)
    run.ledger_path.write_text("".join(lines[: len(lines) // 2]), "utf-8")
    for folder in (run.path, *folders):
        with_sums(folder)
    return run


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, Run]:
    """A run and another one, which no test changes."""
    folder = tmp_path_factory.mktemp("damage")
    one = recorded(folder / "one")
    one.ledger_path.write_bytes(lines_of(one.events()))
    return one, mirrored(recorded(folder / "another"))


@pytest.fixture
def lab(kept: tuple[Run, Run], tmp_path: Path) -> Lab:
    one, other = kept
    study = tmp_path / "results" / "durable-mail"
    for name in ("damaged", "whole"):
        shutil.copytree(one.path, study / name)
    elsewhere = Run(Path(shutil.copytree(other.path, tmp_path / "other")))
    return Lab(Run(study / "damaged"), Run(study / "whole"), elsewhere)


def later(path: Path) -> None:
    """As a later version wrote it, with its digests."""
    if path.suffix == ".jsonl":
        first, *others = read_ledger(path)
        line, _ = line_of(first, 0)
        tomorrow = line.partition(b',"crc32"')[0].replace(b"session_opened", b"session_foreseen")
        crc = zlib.crc32(tomorrow)
        path.write_bytes(tomorrow + b',"crc32":"%08x"}\n' % crc + lines_of(others, crc))
        return
    document = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps({**document, "schema_version": 99}), "utf-8")
    with_sums(path.parent)


def flipped(data: bytes) -> bytes:
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]


def spoil(lab: Lab, name: str, fault: str) -> None:
    path = lab.damaged.path / name
    if fault == "newer":
        later(path)
    elif fault == "swapped":
        path.write_bytes((lab.other.path / name).read_bytes())
    else:
        data = path.read_bytes()
        path.write_bytes(data[: len(data) // 3] if fault == "cut" else flipped(data))


COMMANDS: dict[str, Callable[[Lab, Path], list[object]]] = {
    "report": lambda lab, to: ["report", lab.damaged.path, "--to", to, "--format", "md"],
    "compact": lambda lab, _: ["compact", lab.damaged.path],
    "compare": lambda lab, _: ["compare", lab.whole.path, lab.damaged.path],
    "history": lambda lab, _: ["history", lab.whole.path, lab.damaged.path],
    "publish": lambda lab, to: ["publish", lab.damaged.path, "--to", to],
    "query": lambda lab, _: ["query", "SELECT run, outcome FROM trials", lab.results],
}
OF_RECORDS = {"compact", "query"}
"""Commands that read no loads."""
GOES_ON = {"query"}
"""Commands that leave a damaged run out, name it, and answer for all others with exit code 0."""


def stored(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def table(readers: Iterable[str]) -> Iterator[object]:
    """Every case once; in every run of the tests those of a cut file."""
    for case in product(readers, FILES, FAULTS):
        _, name, fault = case
        if case not in NOT_READ and (fault != "newer" or name in OF_A_VERSION):
            marks = () if fault == "cut" else pytest.mark.extended
            yield pytest.param(*case, marks=marks, id="-".join(case))


@pytest.mark.parametrize(("command", "name", "fault"), [*table(COMMANDS)])
def test_damage_is_named_with_what_to_do_and_nothing_is_half_written(
    lab: Lab, tmp_path: Path, command: str, name: str, fault: str
) -> None:
    if command == "query":
        pytest.importorskip("duckdb", reason="pip install 'steelyard[query]'")
    spoil(lab, name, fault)
    before, to = stored(lab.results), tmp_path / "made"
    words = [str(word) for word in COMMANDS[command](lab, to)]
    done = CliRunner().invoke(app, words, env={"COLUMNS": "300", "NO_COLOR": "1"})
    assert stored(lab.results) == before, "the run was changed"
    assert not to.exists(), "something was half written"
    assert done.exit_code == (0 if command in GOES_ON else 3), done.output
    assert lab.damaged.path.name in done.stderr
    assert name.rpartition("/")[2] in done.stderr or "trials/0003-1" in done.stderr, done.stderr
    if command in GOES_ON:
        assert {row.partition(",")[0] for row in done.stdout.splitlines()[1:]} == {"whole"}
    else:
        assert "hint" in done.stderr


@pytest.mark.parametrize(("kind", "name", "fault"), [*table(["page", "point"])])
def test_what_serve_makes_of_a_run_names_damage_with_what_to_do(
    lab: Lab, kind: str, name: str, fault: str
) -> None:
    spoil(lab, name, fault)
    run = lab.damaged.path
    made = make(kind, str(run), fingerprint_of(run))
    assert isinstance(made, Refused)
    assert run.name in made.message
    assert name.rpartition("/")[2] in made.message or "trials/0003-1" in made.message
    assert made.hint


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def packed_as(run: Run, fault: str, other: Run) -> None:
    (path,) = packed_files(run.path)
    data = path.read_bytes()
    match fault:
        case "cut":
            path.write_bytes(data[:-100])
        case "flipped":
            path.write_bytes(flipped(data))
        case "newer":
            kept = packed_bytes(read_all_packed(path))
            path.write_bytes(kept.replace(b"sha256", b"blake3"))
        case "swapped":
            folders = (other.path / "trials").iterdir()
            path.write_bytes(packed_bytes({each.name: files_of(each) for each in folders}))


@pytest.mark.parametrize("fault", FAULTS)
def test_damage_to_packed_attempts_is_named_by_every_command(
    lab: Lab, tmp_path: Path, fault: str
) -> None:
    compact(lab.damaged)
    packed_as(lab.damaged, fault, lab.other)
    before = stored(lab.results)
    named = "0001-1" if fault == "swapped" else Path(PACKED).name
    for command, words_of in COMMANDS.items():
        if command in OF_RECORDS and fault == "flipped":
            continue  # the bit may be of a load
        to = tmp_path / command
        words = [str(word) for word in words_of(lab, to)]
        done = CliRunner().invoke(app, words, env={"COLUMNS": "300", "NO_COLOR": "1"})
        assert done.exit_code == (0 if command in GOES_ON else 3), (command, done.output)
        assert named in done.stderr, (command, done.stderr)
        assert not to.exists()
    made = make("page", str(lab.damaged.path), fingerprint_of(lab.damaged.path))
    assert isinstance(made, Refused)
    assert named in made.message
    assert stored(lab.results) == before


@pytest.mark.parametrize("name", ["run.json", PACKED])
def test_the_list_names_what_it_cannot_read_and_shows_the_rest(lab: Lab, name: str) -> None:
    compact(lab.damaged)
    path = lab.damaged.path / name
    path.write_bytes(path.read_bytes()[:-50])
    done = CliRunner().invoke(app, ["runs", "--results", str(lab.results), "--json"])
    assert done.exit_code == 0, done.output
    listed = json.loads(done.stdout)
    assert [row["run"] for row in listed["runs"]] == [lab.whole.key]
    assert [each["place"] for each in listed["skipped"]] == [lab.damaged.key]
    assert name.rpartition("/")[2] in listed["skipped"][0]["why"]


@pytest.mark.parametrize("fault", ["flipped", "swapped"])
def test_the_list_does_not_show_facts_that_are_not_what_was_written(lab: Lab, fault: str) -> None:
    spoil(lab, "run.json", fault)
    done = CliRunner().invoke(app, ["runs", "--results", str(lab.results), "--json"])
    listed = json.loads(done.stdout)
    assert [row["run"] for row in listed["runs"]] == [lab.whole.key]


def test_an_attempt_of_another_run_is_named_though_all_its_digests_fit(
    lab: Lab, tmp_path: Path
) -> None:
    here = lab.damaged.path / "trials" / "0003-1"
    shutil.rmtree(here)
    shutil.copytree(lab.other.path / "trials" / "0003-1", here)
    words = ["report", str(lab.damaged.path), "--to", str(tmp_path / "made")]
    done = CliRunner().invoke(app, words, env={"COLUMNS": "300"})
    assert (done.exit_code, "trials/0003-1" in done.stderr) == (3, True)
    assert not (tmp_path / "made").exists()
