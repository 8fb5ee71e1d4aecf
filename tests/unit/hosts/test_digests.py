"""Which program a command is, by the digests of the files that it names."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from subprocess import run

from steelyard.engine.messages import Ran
from steelyard.hosts import digests


class Machine:
    """Runs what it is told here."""

    def run(self, argv: list[str], *, timeout_s: float, directory: str | None = None) -> Ran:
        done = run(argv, capture_output=True, text=True, timeout=timeout_s, cwd=directory)  # noqa: PLW1510
        return Ran(
            exit_code=done.returncode, signal=None, stdout=done.stdout, stderr=done.stderr,
            stdout_truncated=False, stderr_truncated=False, timed_out=False, cancelled=False,
            started_monotonic_ns=0, ended_monotonic_ns=0, user_ns=0, system_ns=0, max_rss_bytes=0,
        )  # fmt: skip


def test_the_program_and_the_files_among_its_words_are_known_by_digest(tmp_path: Path) -> None:
    script = tmp_path / "ser ver.py"
    script.write_text("print()", encoding="utf-8")
    words = ["sh", str(script), "--port", "80", "relative"]
    (tmp_path / "relative").write_text("x", encoding="utf-8")
    told = digests.digests_of(Machine(), words, str(tmp_path))  # type: ignore[arg-type]
    assert told is not None
    program, own, relative = told.split(", ")
    assert program.startswith(("sh ", "dash ", "bash "))
    assert own == f"ser ver.py {sha256(script.read_bytes()).hexdigest()}"
    assert relative == f"relative {sha256(b'x').hexdigest()}"


def test_a_command_that_is_not_there_has_no_digest() -> None:
    assert digests.digests_of(Machine(), ["no-such-program-here"]) is None  # type: ignore[arg-type]
