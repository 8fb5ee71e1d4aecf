"""Every figure of the judge, held field by field whatever becomes of words and shapes.

``STEELYARD_ACCEPT=1 pytest tests/golden/test_figures.py`` writes the expectations anew; a
difference there is another judge and needs its validation.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from tests.golden.judged import CASES, figures, findings

FOLDER = Path(__file__).parent / "figures"


@pytest.mark.parametrize("name", CASES)
def test_the_figures_of_a_case_are_those_that_were_validated(name: str) -> None:
    path = FOLDER / f"{name.replace(' ', '-')}.json"
    seen = figures(findings(name))
    if os.environ.get("STEELYARD_ACCEPT") == "1":
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(seen, indent=1) + "\n", encoding="utf-8")
    expected = json.loads(path.read_text(encoding="utf-8"))
    for field, values in expected.items():
        assert seen.get(field) == values, field
