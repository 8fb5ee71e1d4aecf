"""What ssh says is given a word, and an engine is carried only to a machine that it fits."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import pytest

from steelyard.hosts.engine_transfer import carry_engine, machine_of
from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.ssh import OPTIONS, failure, ssh_way
from steelyard.hosts.transport import Way

CHANGED = """\
@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @
Host key verification failed.
"""


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        (CHANGED, "host_key"),
        ("Host key verification failed.\r\n", "host_key"),
        ("root@board: Permission denied (publickey).\r\n", "no_rights"),
        ("ssh: connect to host board port 22: Connection refused\r\n", "unreachable"),
        ("ssh: connect to host board port 22: Connection timed out\r\n", "unreachable"),
        ("ssh: Could not resolve hostname board: Name or service not known\r\n", "unreachable"),
        ("Connection closed by 192.0.2.7 port 22\r\n", "unreachable"),
        ("~/.ssh/config: line 3: Bad configuration option: prot\r\n", "tool_failed"),
        ("", "unreachable"),
    ],
)
def test_what_ssh_says_decides_who_can_act(said: str, kind: str) -> None:
    assert failure("ssh://board", 255, said).kind == kind


def test_a_changed_key_is_not_called_an_unknown_one() -> None:
    assert "not the one that known_hosts has" in failure("ssh://board", 255, CHANGED).message


def test_a_command_that_failed_there_is_no_failure_of_ssh() -> None:
    seen = failure("ssh://board", 1, "mkdir: cannot create: Permission denied\n")
    assert seen.kind == "tool_failed"
    assert "code 1" in seen.message


def test_no_option_turns_the_checking_of_host_keys_off() -> None:
    line = " ".join(ssh_way("ssh://board", OPTIONS)(["true"])).lower()
    assert "stricthostkeychecking" not in line
    assert "userknownhostsfile" not in line


def test_an_address_cannot_become_an_option() -> None:
    line = ssh_way("-oProxyCommand=touch /tmp/x", ())(["true"])
    assert line[line.index("-oProxyCommand=touch /tmp/x") - 1] == "--"


def test_words_arrive_as_they_were() -> None:
    assert ssh_way("ssh://board", ())(["echo", "a b", "$HOME"])[-1] == "echo 'a b' '$HOME'"


def binary(path: Path, machine: int) -> Path:
    head = bytearray(b"\x7fELF" + bytes(60))
    head[18:20] = machine.to_bytes(2, "little")
    path.write_bytes(bytes(head))
    path.chmod(0o755)
    return path


def explain(exit_code: int, said: str) -> SystemFailure:
    return SystemFailure("tool_failed", f"{exit_code}: {said}")


def way_to(home: Path, machine: str = "x86_64", system: str = "Linux") -> Way:
    """A machine whose ``uname`` says so, with a home of its own."""
    tools = home / "bin"
    tools.mkdir(parents=True)
    uname = f"#!/bin/sh\ncase $1 in -s) echo {system};; *) echo {machine};; esac\n"
    (tools / "uname").write_text(uname)
    (tools / "uname").chmod(0o755)

    def way(argv: Sequence[str]) -> list[str]:
        return ["env", "-u", "XDG_CACHE_HOME", f"HOME={home}", f"PATH={tools}:/usr/bin:/bin", *argv]

    return way


def test_an_engine_for_another_machine_is_not_carried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STEELYARD_ENGINE", str(binary(tmp_path / "engine", 62)))
    with pytest.raises(SystemFailure, match="is aarch64, the engine here is for x86_64") as refused:
        carry_engine(way_to(tmp_path / "far", "aarch64"), "board", explain)
    assert refused.value.kind == "engine_unfit"
    assert "STEELYARD_ENGINE_AARCH64" in (refused.value.hint or "")
    assert not (tmp_path / "far" / ".cache").exists()


def test_the_engine_that_is_named_for_its_machine_is_carried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STEELYARD_ENGINE", str(binary(tmp_path / "engine", 62)))
    board = binary(tmp_path / "engine-board", 183)
    monkeypatch.setenv("STEELYARD_ENGINE_AARCH64", str(board))
    path = carry_engine(way_to(tmp_path / "far", "aarch64"), "board", explain)
    digest = hashlib.sha256(board.read_bytes()).hexdigest()
    assert path == str(tmp_path / "far" / ".cache" / "steelyard" / f"engine-{digest[:16]}")
    assert Path(path).read_bytes() == board.read_bytes()
    assert [file.name for file in Path(path).parent.iterdir()] == [f"engine-{digest[:16]}"]


def test_a_machine_that_has_the_engine_is_asked_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STEELYARD_ENGINE", str(binary(tmp_path / "engine", 62)))
    far, asked = way_to(tmp_path / "far"), []

    def way(argv: Sequence[str]) -> list[str]:
        asked.append(argv)
        return far(argv)

    path = carry_engine(way, "board", explain)
    asked.clear()
    assert carry_engine(way, "board", explain) == path
    assert len(asked) == 1, "each takes a connection"


@pytest.mark.parametrize(
    ("said", "kind", "number"),
    [("aarch64", "aarch64", 183), ("armv7l", "armv7l", 40), ("armv8l", "armv7l", 40),
     ("riscv64", "riscv64", 243), ("i686", "i686", 3)],
)  # fmt: skip
def test_a_machine_gets_the_engine_of_the_wheel_that_is_for_its_kind(
    said: str, kind: str, number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STEELYARD_ENGINE", str(binary(tmp_path / "engine", 62)))
    monkeypatch.setattr("steelyard.engine.locate._OF_OTHERS", tmp_path)
    for other, its_number in (("aarch64", 183), ("armv7l", 40), ("riscv64", 243), ("i686", 3)):
        binary(tmp_path / f"steelyard-engine-{other}", its_number)
    path = carry_engine(way_to(tmp_path / "far", said), "board", explain)
    assert machine_of(Path(path)) == kind
    assert Path(path).read_bytes()[18] == number


def test_what_is_not_linux_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEELYARD_ENGINE", str(binary(tmp_path / "engine", 62)))
    with pytest.raises(SystemFailure, match="FreeBSD") as refused:
        carry_engine(way_to(tmp_path / "far", "amd64", "FreeBSD"), "bsd", explain)
    assert refused.value.kind == "engine_unfit"


def test_a_machine_that_is_not_named_here_is_reported_by_its_number(tmp_path: Path) -> None:
    assert machine_of(binary(tmp_path / "engine", 999)) == "ELF machine 999"
