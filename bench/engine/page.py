"""Tables of stored runs, as the marked blocks of docs/methods/engine-against-peers.md.

`python -m bench.engine.page bench/runs/DATE-engine.json ...` writes them without running anything.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.engine.rows import Row
from bench.engine.table import HEAD, cells

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "methods" / "engine-against-peers.md"
RUNS = ROOT / "bench" / "runs"
END_KEY = "load_average_at_end"
NO_RUN = "No run has been judged yet: `make bench-engine`."


@dataclass(frozen=True)
class Block:
    """A part of the page that one kind of run fills."""

    word: str
    """In its marks, and in the names of the files of its runs."""
    rendered: Callable[[dict[str, Any], str], str]
    """Text of a run, told the name of its file."""

    def is_of(self, run: Path) -> bool:
        """Whether a file is named as whole runs of this kind are: after their day, and numbered."""
        return self.place(run) is not None

    def place(self, run: Path) -> tuple[str, int] | None:
        """Day and number of a run of this kind."""
        found = re.fullmatch(rf"([\d-]{{10}})-{self.word}(?:-(\d+))?", run.stem)
        return (found[1], int(found[2] or 1)) if found else None

    @property
    def begin(self) -> str:
        return f"<!-- {self.word} bench: begin (written by the bench) -->"

    @property
    def end(self) -> str:
        return f"<!-- {self.word} bench: end -->"


def write(block: Block, run: Path) -> None:
    """Puts the table of a run in the place of the one before."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(block.begin)
    _, _, after = rest.partition(block.end)
    text = block.rendered(json.loads(run.read_text(encoding="utf-8")), run.name)
    PAGE.write_text(f"{before}{block.begin}\n{text}\n{block.end}{after}", encoding="utf-8")


def follow(block: Block, run: Path) -> None:
    """Shows a run that was stored among the others, if it is a whole one."""
    if run.parent.resolve() == RUNS.resolve() and block.is_of(run):
        write(block, run)


def shown(block: Block) -> str:
    """What the page has in its place."""
    text = PAGE.read_text(encoding="utf-8")
    return text.partition(block.begin)[2].partition(block.end)[0].strip()


def engine_text(document: dict[str, Any], name: str) -> str:
    """The table, why it has gaps, and on what it was made."""
    reasons = dict.fromkeys(
        f"- **{row['name']}**: {row['reason']}" for row in document["summary"] if row["reason"]
    )
    parts = [
        engine_heading(document, name),
        judged_table(document["summary"]),
        "\n".join(reasons),
        f"Versions: {versions(document)}.",
    ]
    return "\n\n".join(part for part in parts if part)


def kernels_text(document: dict[str, Any], name: str) -> str:
    """The table, and on what it was made."""
    heading = (
        f"`bench/runs/{name}`: {document['cpu_model']}, kernel {document['kernel']}, "
        f"{document['pairs']} pairs; load average {document['load_average'][0]:.1f}."
    )
    return (
        f"{heading}\n\n{table(KERNELS_HEAD, [kernels_cells(row) for row in document['summary']])}"
    )


def soak_text(document: dict[str, Any], name: str) -> str:
    """One row, and what the memory was."""
    (run,) = document["contests"]["memory-soak"]["runs"]
    sizes = " to ".join(f"{run[key] / 1e6:.2f} MB" for key in ("first_bytes", "last_bytes"))
    heading = f"`bench/runs/{name}`, {document['seconds'] / 60:g} min: {sizes}."
    return f"{heading}\n\n{judged_table(document['summary'])}"


def loops_text(document: dict[str, Any], name: str) -> str:
    """The table of both loops, and on what it was made."""
    return f"{engine_heading(document, name)}\n\n{judged_table(document['summary'])}"


KERNELS_HEAD = ["contest", "against", "figure", "goal", "ratio", "spread", "met"]
ENGINE = Block("engine", engine_text)
KERNELS = Block("kernels-against-peers", kernels_text)
SOAK = Block("memory-soak", soak_text)
LOOPS = Block("loops", loops_text)
BLOCKS = (ENGINE, KERNELS, SOAK, LOOPS)


def engine_heading(document: dict[str, Any], name: str) -> str:
    loads = ", ".join(
        f"{document[key][0]:.1f} at its {when}"
        for when, key in (("start", "load_average_at_start"), ("end", END_KEY))
        if key in document
    )
    told = (
        f"`bench/runs/{name}`: {document['cpu_model']}, {document['cores']} cores, kernel "
        f"{document['kernel']}, {document['pairs']} pairs of {document['seconds']} s; load average "
        f"{loads}."
    )
    return f"{told} {document['note']}" if document.get("note") else told


def table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("|" + "|".join(f" {cell} " for cell in line) + "|" for line in lines)


def judged_table(summary: list[dict[str, Any]]) -> str:
    """As on the screen, with a missed goal in bold."""
    rows = [cells(Row(**row)) for row in summary]
    bold = [["**no**" if cell == "no" else cell for cell in row] for row in rows]
    return table([*HEAD], bold)


def kernels_cells(row: dict[str, Any]) -> list[str]:
    """One goal: the median of the pairs' ratios, and the least and the greatest."""
    spread = f"{row['low']:.3g} to {row['high']:.3g}"
    met = "yes" if row["met"] else "**no**"
    return [row["name"], row["peer"], row["unit"], row["goal"], f"{row['median']:.3g}", spread, met]


def versions(document: dict[str, Any]) -> str:
    """Programs that say what they are; some say their name, too."""
    told = document["versions"].items()
    named = (said if name in said else f"{name} {said}" for name, said in told if said)
    return ", ".join(" ".join(each.split()) for each in named)


if __name__ == "__main__":
    for word in sys.argv[1:]:
        run = Path(word)
        write(next(block for block in BLOCKS if block.is_of(run)), run)
