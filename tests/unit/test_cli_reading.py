"""A disk that is full when the report is written is said in words: what was measured is kept."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import cast

import pytest

from steelyard.cli.archive import reading
from steelyard.errors import HostError
from steelyard.judge.findings import RunFindings
from steelyard.records.archive import Run


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EIO])
def test_a_report_that_cannot_be_written_is_for_the_operator(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def full(*_: object, **__: object) -> list[Path]:
        raise OSError(number, "as the kernel says it")

    monkeypatch.setattr(reading, "write_report", full)
    with pytest.raises(HostError) as failed:
        reading.write(Run(tmp_path), cast("RunFindings", None), ("json",))
    assert (failed.value.slug, failed.value.exit_code) == ("cannot-write", 3)
