"""A noise recording: one series of trials of one system on one machine, as a small file of text.

Lines that begin with ``#`` are ``key: value``; then comes CSV with a row for each trial, in the
order they ran. A name that ends in ``.gz`` is compressed, byte for byte the same for the same bank.
"""

from __future__ import annotations

import csv
import gzip
import io
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from steelyard.errors import RecordError

FORMAT = "steelyard trace 1"
_COLUMNS = ("started_s", "value", "steal_share")
_FACT = "fact "


@dataclass(frozen=True)
class Trial:
    """One short trial: seconds since the first began, its figure, and what was stolen meanwhile.

    ``steal_share`` is the part of the machine's processor time that its host gave to others
    between this start and the next; ``None`` where the kernel does not report it.
    """

    started_s: float
    value: float
    steal_share: float | None


@dataclass(frozen=True)
class Bank:
    """``load_average`` is of one minute, before the first trial and after the last."""

    kernel: str
    unit: str
    direction: Literal["higher", "lower"]
    recorded: str
    load_average: tuple[str, str]
    trials: tuple[Trial, ...]
    facts: dict[str, str] = field(default_factory=dict)


def write_bank(path: Path, bank: Bank) -> None:
    """Writes the file whole: it appears by rename.

    Raises:
        RecordError: it cannot be written.
    """
    content = _text(bank).encode()
    if path.suffix == ".gz":
        content = gzip.compress(content, mtime=0)
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        partial.write_bytes(content)
        partial.replace(path)
    except OSError as error:
        raise RecordError(
            f"cannot write {path}: {error.strerror}",
            hint="name a file in a folder that is there and can be written, with -o",
            slug="trace-cannot-be-kept",
        ) from error


def read_bank(path: Path) -> Bank:
    """The bank in a file.

    Raises:
        RecordError: the file cannot be read, or is no bank.
    """
    try:
        content = path.read_bytes()
        text = (gzip.decompress(content) if path.suffix == ".gz" else content).decode()
        return _bank(text)
    except (OSError, EOFError, ValueError, KeyError) as error:
        why = getattr(error, "strerror", None) or "what it holds is none"
        raise RecordError(
            f"{path} is no noise recording: {why}",
            hint="record one with `steelyard trace -o FILE`",
            slug="trace-is-damaged",
        ) from error


def _text(bank: Bank) -> str:
    heads = {
        "format": FORMAT,
        "kernel": bank.kernel,
        "unit": bank.unit,
        "direction": bank.direction,
        "recorded": bank.recorded,
        "load average": " ".join(bank.load_average),
        **{f"{_FACT}{name}": value for name, value in sorted(bank.facts.items())},
    }
    text = io.StringIO()
    text.writelines(f"# {key}: {value}\n" for key, value in heads.items())
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(_COLUMNS)
    for trial in bank.trials:
        steal = "" if trial.steal_share is None else f"{trial.steal_share:.4f}"
        rows.writerow((f"{trial.started_s:.3f}", f"{trial.value:.6g}", steal))
    return text.getvalue()


def _bank(text: str) -> Bank:
    lines = text.splitlines()
    heads = dict(line[2:].split(": ", 1) for line in lines if line.startswith("# "))
    if heads["format"] != FORMAT:
        raise ValueError(f"its format is {heads['format']}, not {FORMAT}")
    direction = heads["direction"]
    if direction not in {"higher", "lower"}:
        raise ValueError(f"its direction is {direction}")
    before, after = heads["load average"].split()
    rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
    return Bank(
        kernel=heads["kernel"],
        unit=heads["unit"],
        direction="higher" if direction == "higher" else "lower",
        recorded=heads["recorded"],
        load_average=(before, after),
        trials=tuple(_trial(row) for row in rows),
        facts={
            key.removeprefix(_FACT): value for key, value in heads.items() if key.startswith(_FACT)
        },
    )


def _trial(row: dict[str, str]) -> Trial:
    steal = row["steal_share"]
    return Trial(float(row["started_s"]), float(row["value"]), float(steal) if steal else None)
