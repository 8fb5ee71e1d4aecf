"""Every platform of commands against a stand-in of its tool: words, order, failures, identity.

What a stand-in refuses, the real tool refuses as its documentation says. That is no proof that the
platform runs on the real thing: ``verified: false`` says so to users.
"""

from __future__ import annotations

import dataclasses
import importlib
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.platforms.standins.shim import install
from tests.platforms.standins.world import World

from steelyard.engine.locate import find_engine
from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host
from steelyard.hosts.transport import here, open_local_pipe
from steelyard.hosts.undo.log import UndoLog
from steelyard.records.ledger import Ledger
from steelyard.study import catalogue
from steelyard.study.model import SystemSpec
from steelyard.study.reference import UNVERIFIED
from steelyard.systems.command_line.platform import CommandLinePlatform
from steelyard.systems.command_line.render import mark_of, number_of
from steelyard.systems.platform import InstanceContext, RawDisk

CASES = Path(__file__).parents[1] / "cases" / "platforms"
STANDINS = {file.stem for file in (Path(__file__).parent / "standins").glob("*.py")}
NAMES = [
    name
    for name in catalogue.names("platforms")
    if catalogue.platform(name).driver == "command_line"
    and (not catalogue.platform(name).verified or name in STANDINS)
]
LABEL = "steelyard-0000abcd-box-1"
DISK = RawDisk("data-1", 64 << 20)


class Pretended:
    """A platform whose tool is a stand-in, on this machine."""

    def __init__(
        self, name: str, folder: Path, host_machine: Callable[[], Host], undo: UndoLog
    ) -> None:
        self.name = name
        self.standin: Any = importlib.import_module(f"tests.platforms.standins.{name}")
        self.folder = folder
        self.inside = folder / "inside"
        self.inside.mkdir()
        (folder / "image").touch()
        declared = catalogue.platform(name)
        assert declared.commands is not None
        changes = {"engine": str(self.inside / "engine"), "folder": str(self.inside / "services")}
        commands = declared.commands.model_copy(update=changes)
        self.platform = declared.model_copy(update={"commands": commands})
        settings = {
            key: str(value).replace("FOLDER", str(folder)) if isinstance(value, str) else value
            for key, value in self.standin.SETTINGS.items()
        }
        spec = SystemSpec(name="box", platform=name, settings=settings)
        ground_folder = folder / "context"
        ground_folder.mkdir()
        self.context = InstanceContext(spec, 1, LABEL, host_machine, undo, str(ground_folder))

    @property
    def mark(self) -> str:
        return mark_of(LABEL, self.context.folder)

    def place(self) -> CommandLinePlatform:
        return CommandLinePlatform(self.context, self.platform)

    def world(self) -> World:
        return World(self.folder)

    def log(self) -> str:
        """The commands, one a line, with what differs from run to run replaced."""
        replaced = {
            self.context.folder: "FOLDER",
            str(self.inside): "INSIDE",
            str(self.folder): "WORLD",
            self.mark: "MARK",
            str(number_of(self.mark)): "NUMBER",
            LABEL: "LABEL",
            str(Path(find_engine()).resolve()): "ENGINE",
        }
        lines = []
        for words in self.world().logged():
            line = " ".join(repr(word) if " " in word or not word else word for word in words)
            line = getattr(self.standin, "readable", str)(line)
            for before, after in replaced.items():
                line = line.replace(before, after)
            lines.append(re.sub(r"\{[0-9a-f-]{36}\}", "{ID}", line))
        return "\n".join(lines) + "\n"


@pytest.fixture(params=NAMES)
def pretended(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Pretended]:
    world = tmp_path / "world"
    standin = importlib.import_module(f"tests.platforms.standins.{request.param}")
    first = install(world, request.param, standin.TOOLS)
    monkeypatch.setenv("PATH", f"{first}:{os.environ['PATH']}")
    host = Host("local", open_local_pipe(), here, str(find_engine()))
    with Ledger(tmp_path / "ledger.jsonl") as ledger:
        yield Pretended(request.param, world, lambda: host, UndoLog(ledger))
    host.close()


def test_the_commands_of_a_whole_life_are_those_that_are_kept(pretended: Pretended) -> None:
    place = pretended.place()
    place.up()
    assert place.facts()["verified"] == ("yes" if pretended.platform.verified else UNVERIFIED)
    assert place.address()
    assert place.host().run(["true"], timeout_s=60).exit_code == 0
    for strength in pretended.platform.resets:
        assert place.reset(strength).evidence
    if pretended.platform.commands is not None and pretended.platform.commands.attach:
        attached = place.attach(DISK)
        assert attached.device.startswith("/dev/")
        place.detach(attached)
    place.costs()
    place.down()
    assert pretended.world().things == {}
    assert pretended.world().state["volumes"] == {}
    kept = CASES / f"{pretended.name}.txt"
    if os.environ.get("STEELYARD_ACCEPT"):
        kept.write_text(pretended.log(), encoding="utf-8")
    assert pretended.log() == kept.read_text(encoding="utf-8")


def test_what_somebody_else_made_is_refused_and_never_touched(pretended: Pretended) -> None:
    world = pretended.world()
    number = number_of(pretended.mark)
    pretended.standin.foreign(world, LABEL, number, pretended.context.folder)
    world.save()
    before = pretended.world().state
    place = pretended.place()
    with pytest.raises(SystemFailure) as failure:
        place.up()
    place.down()
    assert failure.value.kind == "name_taken"
    assert pretended.world().state == before


def test_after_a_crash_the_ledger_alone_takes_it_down(pretended: Pretended) -> None:
    pretended.place().up()
    undo, host_machine = pretended.context.undo, pretended.context.host_machine()
    for pending in undo.pending():
        undo.apply(host_machine, pending)
        pending.inverse.apply(host_machine)
    assert pretended.world().things == {}


def test_whichever_command_fails_on_the_way_up_nothing_is_left(pretended: Pretended) -> None:
    commands = pretended.platform.commands
    assert commands is not None
    first = 1 if commands.exists.run[:1] == ["ls"] else 2  # behind that of exists
    for number in range(first, first + len(commands.up)):
        world = pretended.world()
        (pretended.folder / "log").unlink(missing_ok=True)
        world.state["fail_at"] = number
        world.save()
        place = pretended.place()
        with pytest.raises(SystemFailure):
            place.up()
        place.down()
        left = pretended.world().state
        assert (left["things"], left["volumes"]) == ({}, {}), f"after command {number} failed"


def test_what_a_crash_left_of_ours_is_made_anew(pretended: Pretended) -> None:
    pretended.place().up()
    second = pretended.place()
    second.up()
    assert second.host().run(["true"], timeout_s=60).exit_code == 0
    second.down()
    assert pretended.world().things == {}


def test_the_words_of_the_tool_become_typed_failures(pretended: Pretended) -> None:
    seen, words = {}, []
    for said in pretended.standin.ERRORS:
        world = pretended.world()
        world.state["failing"] = said
        world.save()
        with pytest.raises(SystemFailure) as failure:
            pretended.place()._do(pretended.platform.commands.up, "up")  # type: ignore[union-attr]
        seen[said] = failure.value.kind
        words.append(failure.value.message)
    assert seen == pretended.standin.ERRORS, words


def test_without_its_tool_a_platform_says_what_is_missing(
    pretended: Pretended, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    monkeypatch.setenv("PATH", str(empty))
    host = Host("local", open_local_pipe(), here, str(find_engine()))
    place = CommandLinePlatform(dataclasses.replace(pretended.context, host_machine=lambda: host))
    with pytest.raises(SystemFailure) as failure:
        place.up()
    host.close()
    assert failure.value.kind == "tool_missing"
