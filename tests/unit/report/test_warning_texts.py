"""Every warning that a trial can carry is explained in the reference and has its text."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from steelyard.judge.findings import BottleneckNote, UsedUpFinding, WarningNote
from steelyard.records.warnings import Figures, Resource, WarningKind
from steelyard.report.notes.warnings import TEXTS, bottleneck_text, warning_text

REFERENCE = Path(__file__).parents[3] / "docs" / "reference"


def rows(page: str) -> set[str]:
    return set(re.findall(r"^\| `(\w+)` \|", (REFERENCE / page).read_text("utf-8"), re.MULTILINE))


def written(kind: WarningKind, **figures: float | str) -> str:
    return warning_text(WarningNote(kind=kind, state="suspect", figures=figures))


def test_every_kind_of_warning_has_its_row_and_every_row_its_kind() -> None:
    of_trials = rows("warnings.md")
    assert of_trials <= set(WarningKind)
    assert set(WarningKind) - of_trials <= rows("result.md")


def test_every_kind_of_warning_has_its_text() -> None:
    assert set(TEXTS) == set(WarningKind)


def test_a_text_has_its_figures_with_their_units() -> None:
    assert "1.4%" in written(WarningKind.STEAL, machine="far", steal_ratio=0.014)
    assert "far" in written(WarningKind.STEAL, machine="far", steal_ratio=0.014)
    assert "91%" in written(WarningKind.GENERATOR_NEAR_CAPACITY, capacity_ratio=0.909)
    assert "2000.0 ms" in written(WarningKind.CLOCK_STEP, step_ns=2_000_000_000)
    back = written(WarningKind.CLOCK_STEP, machine="far", step_ns=-300_000_000_000)
    assert "far" in back
    assert "-300000.0 ms" in back
    hidden: Figures = {"machine": "guest", "busy_inside_cores": 0.9, "vcpu_wait_cores": 0.3}
    assert "unknown" in written(WarningKind.HIDDEN_WAIT, **hidden)


def test_a_throttled_link_says_who_held_it_back() -> None:
    def of(**figures: float | str) -> str:
        return written(WarningKind.LINK_THROTTLED, machine="far", **figures)

    assert "eth0" in of(device="eth0", overlimit_ratio=0.31)
    assert "netem" in of(device="eth0", delayed_ratio=1.0)
    assert "packet filter of far dropped 2.30%" in of(refused_ratio=0.023)


def test_a_warning_of_the_probe_and_of_a_part_of_a_mix_name_it() -> None:
    figures: Figures = {"ok": 0, "needed": 20}
    probe = written(WarningKind.PROBE_SUSPECT, warning="too_few_samples", **figures)
    assert written(WarningKind.TOO_FEW_SAMPLES, **figures) in probe
    assert "too_few_samples" in probe
    assert written(WarningKind.TOO_FEW_SAMPLES, part="reads", **figures).startswith("reads: ")


def test_a_warning_about_one_of_several_generators_names_it() -> None:
    figures: Figures = {"lag_p99_ns": 61_000, "allowed_ns": 50_000}
    named = written(WarningKind.LATE, generator=2, **figures)
    assert named == f"generator 2: {written(WarningKind.LATE, **figures)}"
    apart: Figures = {"machine": "ssh://far", "apart_ns": 30_000_000, "window_ns": 1_000_000_000}
    text = written(WarningKind.GENERATORS_APART, generator=2, **apart)
    assert "generator 2 (ssh://far)" in text
    assert "3.0%" in text


@pytest.mark.parametrize("kind", WarningKind)
def test_a_warning_without_figures_is_named_by_its_kind(kind: WarningKind) -> None:
    assert written(kind)


def test_the_figure_of_a_disk_is_named_busy_time() -> None:
    assert bottleneck_text(BottleneckNote(kind=Resource.DISK_BUSY_TIME, share=0.93)) == (
        "disk busy for 93% of the measured time, saturated or not"
    )


def test_what_else_was_used_up_stands_behind_what_was_worst() -> None:
    also = (UsedUpFinding(kind=Resource.MACHINE_CPU, share=0.97),)
    note = BottleneckNote(kind=Resource.CPU_LIMIT, share=0.6, also=also)
    assert bottleneck_text(note).index("60%") < bottleneck_text(note).index("97% used")


@pytest.mark.parametrize("resource", Resource)
@pytest.mark.parametrize("share", [None, 0.95])
def test_every_bottleneck_has_its_text(resource: Resource, share: float | None) -> None:
    written = bottleneck_text(BottleneckNote(kind=resource, share=share))
    assert ("95%" in written) is (share is not None)
