"""What is kept of a run."""

from __future__ import annotations

import json
import os
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bench.engine.rows import Row


def store(
    word: str, facts: dict[str, object], rows: list[Row], raw: dict[str, Any], folder: Path
) -> Path:
    """Keeps set-up, summary and raw figures; a second run of a kind and day gets a number."""
    folder.mkdir(parents=True, exist_ok=True)
    document = {
        "benchmark": word,
        **facts,
        "load_average_at_end": os.getloadavg(),
        "summary": [asdict(row) for row in rows],
        "contests": raw,
    }
    stem = f"{time.strftime('%Y-%m-%d')}-{word}"
    names = (f"{stem}{'' if number == 1 else f'-{number}'}.json" for number in range(1, 1000))
    path = next(path for name in names if not (path := folder / name).exists())
    path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    return path
