"""A machine through its agent: the real engine, over a pipe."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from steelyard.engine.agent import AgentRefusal
from steelyard.hosts.host import Host, read_ran
from steelyard.hosts.transport import open_local_pipe


@pytest.fixture
def host() -> Iterator[Host]:
    host = Host("local", open_local_pipe())
    yield host
    host.close()


def test_a_program_is_run_with_its_input_and_environment(host: Host, tmp_path: Path) -> None:
    script = "cat; echo $COLOUR; pwd -P; echo bad >&2; exit 4"
    ran = host.run(
        ["sh", "-c", script],
        timeout_s=60,
        stdin="given\n",
        environment={"COLOUR": "red"},
        directory=str(tmp_path),
    )
    assert ran.stdout == f"given\nred\n{tmp_path.resolve()}\n"
    assert ran.exit_code == 4
    assert not ran.succeeded
    assert ran.how_it_ended() == "exited with code 4; its last words: bad"


def test_programs_start_together_at_a_time(host: Host) -> None:
    at_ns = host.clock().monotonic_ns + 2_000_000_000
    argv = ["true"]
    waiting = [host.submit_run(argv, timeout_s=60, start_at_monotonic_ns=at_ns) for _ in range(3)]
    together = host.run(argv, timeout_s=60, start_at_monotonic_ns=at_ns)
    runs = [together, *(read_ran(answer.result(60)) for answer in waiting)]
    assert all(ran.succeeded and ran.started_monotonic_ns >= at_ns for ran in runs)


def test_a_program_that_takes_too_long_says_so(host: Host) -> None:
    ran = host.run(["sleep", "1000"], timeout_s=0.05)
    assert ran.timed_out
    assert ran.how_it_ended() == "did not end in time and was killed"


def test_what_runs_can_be_cancelled(host: Host, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    answer = host.submit_run(["sh", "-c", f"echo > {pipe}; exec sleep 1000"], timeout_s=600)
    pipe.read_text()  # it runs
    host.cancel_runs()
    ran = read_ran(answer.result(60))
    assert ran.cancelled
    assert ran.how_it_ended() == "was cancelled"


def test_a_program_that_is_not_there_is_refused(host: Host) -> None:
    with pytest.raises(AgentRefusal, match="/nowhere/program") as refused:
        host.run(["/nowhere/program"], timeout_s=5)
    assert refused.value.failure.kind == "not_found"


def test_small_files_are_written_and_read(host: Host, tmp_path: Path) -> None:
    path = str(tmp_path / "setting")
    assert not host.path_facts(path).exists
    assert host.path_facts(path).kind is None
    host.write_file(path, "ein Wert: ü\n", create=True, mode=0o600, durable=True)
    assert host.read_file(path) == "ein Wert: ü\n"
    facts = host.path_facts(path)
    assert (facts.exists, facts.kind, facts.mode) == (True, "file", 0o600)
    assert facts.size_bytes == len("ein Wert: ü\n".encode())


def test_files_of_the_kernel_are_read_though_they_have_no_size(host: Host) -> None:
    assert host.read_file("/proc/sys/kernel/osrelease").strip() == os.uname().release


def test_a_file_that_is_no_text_is_refused(host: Host, tmp_path: Path) -> None:
    (tmp_path / "bytes").write_bytes(b"\xff\xfe")
    with pytest.raises(AgentRefusal, match="no text in UTF-8"):
        host.read_file(str(tmp_path / "bytes"))


def test_a_server_is_waited_for_until_it_listens(host: Host) -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        port = server.getsockname()[1]
        with pytest.raises(AgentRefusal, match=f"nothing listens on TCP port {port}") as refused:
            host.await_listening(port=port, timeout_s=0.03)
        assert refused.value.failure.kind == "not_ready"
        server.listen()
        host.await_listening(address="127.0.0.1", port=port, timeout_s=60)


def test_the_clock_of_this_machine_is_no_other(host: Host) -> None:
    offset = host.clock_offset()
    assert abs(offset.offset_ns) <= offset.uncertainty_ns
