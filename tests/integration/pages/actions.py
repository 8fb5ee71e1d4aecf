"""What is done with a block: its commands are run, its file is read, its words are held."""

from __future__ import annotations

import json
import re
import shlex
import signal
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import chdir, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import BaseModel
from ruamel.yaml import YAML
from typer.testing import CliRunner

from steelyard.cli.main import app
from tests.integration.conftest import LONGEST_S, Steelyard
from tests.integration.pages.blocks import ROOT, Block, without_figures

Done = subprocess.CompletedProcess[str]
YAMLS = YAML(typ="safe", pure=True)
STARTS_NOTHING = {
    "init",
    "plan",
    "runs",
    "judge",
    "check",
    "platform",
    "service",
    "workload",
    "image",
    "publish",
    "verify",
    "query",
    "compact",
    "support",
}


@dataclass
class Reader:
    """Somebody who does in a folder what a page says, line by line."""

    tool: Steelyard
    missing: list[str] = field(default_factory=list)
    """What this machine lacks, whose blocks were passed over."""
    done: dict[str, Done] = field(default_factory=dict)
    """What came of each command that was run, the last one last."""

    @property
    def folder(self) -> Path:
        return self.tool.folder

    def run(self, line: str, codes: Sequence[int] = (0,)) -> str:
        """What a command printed."""
        self.done.pop(line, None)
        self.done[line] = ended = self._here(line) or self._in_a_shell(line)
        assert ended.returncode in codes, f"{line}: {ended.returncode}: {ended.stderr}"
        return ended.stdout

    def _here(self, line: str) -> Done | None:
        """A command that starts nothing is run in this process: half of them would only begin."""
        words = shlex.split(line, comments=True)
        if words[0].rpartition("/")[2] != "steelyard" or words[1] not in STARTS_NOTHING:
            return None
        with chdir(self.folder):
            ended = CliRunner().invoke(app, words[1:], env={"COLUMNS": "200", "NO_COLOR": "1"})
        return Done(words, ended.exit_code, ended.stdout, ended.stderr)

    def _in_a_shell(self, line: str) -> Done:
        return subprocess.run(
            ["bash", "-c", line],
            cwd=self.folder,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=LONGEST_S,
            check=False,
        )

    @property
    def last(self) -> Done:
        return [*self.done.values()][-1]

    @property
    def _environment(self) -> dict[str, str]:
        own = {"PATH": f"{self.folder}/.venv/bin:{self.tool.environment['PATH']}"}
        return {**self.tool.environment, **own, "GITHUB_STEP_SUMMARY": str(self.folder / "summary")}


Action = Callable[[Reader, Block], None]


def text_file(name: str, *commands: str, rest: str = "") -> Action:
    """The block, with ``rest``, is a file; each command reads it and finds nothing wrong."""

    def write(reader: Reader, block: Block) -> None:
        path = reader.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(block.text + rest, encoding="utf-8")
        for command in commands:
            reader.run(command)

    return write


def study(rest: str = "") -> Action:
    """The block is a study, or a part of one that ``rest`` makes whole; it can be planned."""

    def plan(reader: Reader, block: Block) -> None:
        path = reader.folder / "study.yaml"
        path.write_text(block.text + rest, encoding="utf-8")
        reader.run("steelyard plan study.yaml --seed 1")
        path.unlink()

    return plan


def part_of(file: str) -> Action:
    """Each key of the block stands in the file, with the same value."""

    def compare(_reader: Reader, block: Block) -> None:
        shown, whole = YAMLS.load(block.text), YAMLS.load(ROOT / file)
        assert shown == {key: whole[key] for key in shown}

    return compare


def document(model: type[BaseModel]) -> Action:
    """The block is a JSON document of this kind."""

    def read(_reader: Reader, block: Block) -> None:
        model.model_validate_json(block.text)

    return read


def commands(
    *further: str, codes: Sequence[int] = (0,), then: Callable[[Reader], None] | None = None
) -> Action:
    """Each line is a command, which is given ``further`` words."""

    def run(reader: Reader, block: Block) -> None:
        for line in block.lines:
            reader.run(" ".join([line, *further]), codes)
        if then is not None:
            then(reader)

    return run


def where(possible: Callable[[], bool], needed: str, action: Action) -> Action:
    """The action, where this machine has what it needs."""

    def run(reader: Reader, block: Block) -> None:
        if possible():
            action(reader, block)
        else:
            reader.missing.append(needed)

    return run


def session(reader: Reader, block: Block) -> None:
    """Lines behind ``$`` are commands; what stands below one is what it prints first."""
    for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        line, _, shown = part.partition("\n")
        begins_with(reader.run(line), shown)


def begins_with(printed: str, shown: str) -> None:
    """The lines of a page, whatever their figures; a busy machine adds a warning behind them."""
    wanted = without_figures(shown)
    assert without_figures(printed)[: len(wanted)] == wanted


def printed(reader: Reader, block: Block) -> None:
    """The block is what the last command printed, to the last figure."""
    assert reader.last.stdout == block.text


def complaint(file: str, right: str, wrong: str, command: str) -> Action:
    """The block is what ``command`` says of the file with a mistake in it."""

    def compare(reader: Reader, block: Block) -> None:
        path = reader.folder / file
        good = path.read_text(encoding="utf-8")
        assert right in good
        path.write_text(good.replace(right, wrong), encoding="utf-8")
        reader.run(command, codes=(2,))
        path.write_text(good, encoding="utf-8")
        assert reader.last.stderr.startswith(block.text)

    return compare


def against(*further: str, **sinks: str) -> Action:
    """Each command drives a server of ours in place of the address that the page names.

    It is given ``further`` words; ``sinks``: those of the server by what it speaks.
    """

    def run(reader: Reader, block: Block) -> None:
        lines = [line for line in block.lines if "steelyard load " in line]
        for line, (scheme, words) in zip(lines, sinks.items(), strict=True):
            with served(reader, words) as address:
                command = re.sub(rf"({scheme}[+\w]*://)[\w.:]+", rf"\g<1>{address}", line)
                output = reader.run(" ".join([command.removeprefix("$ "), *further]))
            if block.lines[0].startswith("$ "):
                begins_with(output, block.text.partition("\n")[2])

    return run


@contextmanager
def served(reader: Reader, words: str) -> Iterator[str]:
    """The address of a sink."""
    sink = reader.tool.start("sink", *words.split())
    assert sink.stdout is not None
    try:
        yield json.loads(sink.stdout.readline())["listening"]
    finally:
        sink.send_signal(signal.SIGINT)
        sink.communicate()


def job(prepare: Callable[[Reader], None], *paths: str) -> Action:
    """The block is a job of a pipeline: its commands are run, and ``paths`` are there then."""

    def run(reader: Reader, block: Block) -> None:
        prepare(reader)
        for line in _lines_of(YAMLS.load(block.text)):
            if line not in reader.done:  # two jobs of a page do the same
                reader.run(line, codes=(0, 5))
        for path in paths:
            assert (reader.folder / path).exists()

    return run


def _lines_of(part: object) -> Iterator[str]:
    """Commands as GitHub (``run``) and GitLab (``script``, ``after_script``) have them."""
    if isinstance(part, list):
        for each in part:
            yield from _lines_of(each)
    elif isinstance(part, dict):
        for key, value in part.items():
            if key in {"run", "script", "after_script"}:
                yield from [value] if isinstance(value, str) else value
            else:
                yield from _lines_of(value)


def shorten(path: Path) -> None:
    """A study of minutes becomes one of seconds with little load: its figures are not looked at."""
    text = path.read_text(encoding="utf-8")
    for pattern, instead in [
        (r"window: \S+ s", "window: 200 ms"),
        (r"warmup: \S+ s", "warmup: 20 ms"),
        (r"users: \[.*?\]", "users: 2\n  think: 2 ms"),
        (r"time: \d+ min", "trials: 6 per cell"),
        (r"\Z", "generator: {calibrate: false}\n"),
    ]:
        text = re.sub(pattern, instead, text, count=1)
    path.write_text(text, encoding="utf-8")
