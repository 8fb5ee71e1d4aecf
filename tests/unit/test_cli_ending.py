"""An error becomes an exit code and a message, by who can act."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable

import pytest

from steelyard.cli.ending import exit_code
from steelyard.errors import ExitCode


def refused(number: int) -> Callable[[], int | None]:
    def command() -> int | None:
        raise OSError(number, os.strerror(number), "results/ledger.jsonl")

    return command


@pytest.mark.parametrize(
    "number", [errno.EIO, errno.ENOSPC, errno.EROFS, errno.EDQUOT, errno.EMFILE, errno.ESTALE]
)
def test_a_disk_that_refuses_a_file_is_no_defect_of_ours(
    number: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert exit_code(refused(number)) == ExitCode.OPERATOR
    told = capsys.readouterr().err
    assert "results/ledger.jsonl" in told
    assert "Traceback" not in told


def test_any_other_error_of_a_call_is_a_defect(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(refused(errno.EINVAL)) == ExitCode.DEFECT
    assert "Traceback" in capsys.readouterr().err
