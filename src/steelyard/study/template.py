"""The study that ``steelyard init`` writes: commented, correct, and runnable as it is."""

from __future__ import annotations

import re
from importlib import resources


def template(name: str) -> str:
    """The text of a first study called ``name``; what a name cannot hold becomes ``-``."""
    file = resources.files("steelyard.catalogue").joinpath("template.yaml")
    clean = re.sub(r"[^A-Za-z0-9_.+-]+", "-", name).strip("-.+_")[:80] or "my-study"
    plain = re.search(r"[A-Za-z]", clean) and clean.lower() not in ("true", "false", "null")
    quoted = clean if plain else f'"{clean}"'
    return file.read_text(encoding="utf-8").replace("{name}", quoted, 1)
