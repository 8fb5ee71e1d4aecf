"""The pieces of studies that README.md and the guides show are right."""

from __future__ import annotations

import re
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from steelyard.study.read import read_study

ROOT = Path(__file__).parents[3]
REST: dict[str, Any] = {
    "study": "piece",
    "question": "Which is faster?",
    "workload": {"use": "http"},
    "trials": {"margin": "20 %"},
}
OTHER = {"other": {"platform": "native", "service": {"use": "sink-http"}}}


def pieces(page: str) -> list[dict[str, Any]]:
    text = (ROOT / page).read_text(encoding="utf-8")
    blocks = re.findall(r"```yaml\n(systems:.*?)```", text, re.DOTALL)
    return [YAML(typ="safe", pure=True).load(block) for block in blocks]


PIECES = [(page, each) for page in ("README.md", "docs/guide/images.md") for each in pieces(page)]


@pytest.mark.parametrize(("page", "piece"), PIECES)
def test_a_piece_of_a_study_becomes_a_study(
    tmp_path: Path, page: str, piece: dict[str, Any]
) -> None:
    whole = REST | piece
    if "compare" not in whole and len(piece["systems"]) == 1:
        (system,) = whole["systems"].values()
        system.setdefault("service", {"use": "sink-http"})
        whole["systems"] |= OTHER
    text = StringIO()
    YAML(typ="safe", pure=True).dump(whole, text)
    (tmp_path / "mine.qcow2").touch()
    (tmp_path / "study.yaml").write_text(text.getvalue(), encoding="utf-8")
    assert set(piece["systems"]) <= set(read_study(tmp_path).systems), page


def test_the_first_study_is_shown_as_it_is() -> None:
    shown = pieces("README.md")[0]
    own = YAML(typ="safe", pure=True).load(ROOT / "studies" / "quickstart" / "study.yaml")
    assert shown == {key: own[key] for key in shown}
