"""The table of a stored run, as the marked block of docs/methods/engine-against-peers.md.

`python -m bench.engine.page bench/runs/DATE-engine.json` writes it without running anything.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "methods" / "engine-against-peers.md"
BEGIN = "<!-- engine bench: begin (written by python -m bench.engine --write-page) -->"
END = "<!-- engine bench: end -->"
HEAD = "| contest | against | figure | goal | ratio | spread | met | least client |"


def write(run: Path) -> None:
    """Puts the table of a run in the place of the one before."""
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    document = json.loads(run.read_text(encoding="utf-8"))
    block = f"{BEGIN}\n{rendered(document, run.name)}\n{END}"
    PAGE.write_text(before + block + after, encoding="utf-8")


def rendered(document: dict[str, Any], name: str) -> str:
    """The table, and on what it was made."""
    reasons = dict.fromkeys(
        f"- **{row['name']}**: {row['reason']}" for row in document["summary"] if row["reason"]
    )
    parts = [
        heading(document, name),
        "\n".join([HEAD, "|" + "---|" * 8, *map(line, document["summary"])]),
        "\n".join(reasons),
        f"Versions: {versions(document)}.",
    ]
    return "\n\n".join(part for part in parts if part)


def heading(document: dict[str, Any], name: str) -> str:
    loads = ", ".join(
        f"{when} {document[key][0]:.1f}"
        for when, key in (("at its start", "load_average_at_start"), ("at its end", END_KEY))
        if key in document
    )
    told = (
        f"`bench/runs/{name}`: {document['cpu_model']}, {document['cores']} cores, kernel "
        f"{document['kernel']}, {document['pairs']} pairs of {document['seconds']} s; load average "
        f"{loads}."
    )
    return f"{told} {document['note']}" if document.get("note") else told


END_KEY = "load_average_at_end"


def line(row: dict[str, Any]) -> str:
    """One goal; what could not be measured is no number."""
    head = f"| {row['name']} | {row['peer']} | {row['unit']} | {row['goal']} |"
    if row["median"] is None:
        return f"{head} {'failed' if row['failed'] else 'not measured'} | | ? | |"
    spread = f"{row['low']:.3g} to {row['high']:.3g}"
    least = "" if row.get("least") is None else f"{row['least']:.3g}"
    met = "yes" if row["met"] else "**no**"
    return f"{head} {row['median']:.3g} | {spread} | {met} | {least} |"


def versions(document: dict[str, Any]) -> str:
    """Programs that say what they are; some say their name, too."""
    told = document["versions"].items()
    named = (
        version if name in version else f"{name} {version}" for name, version in told if version
    )
    return ", ".join(" ".join(each.split()) for each in named)


if __name__ == "__main__":
    write(Path(sys.argv[1]))
