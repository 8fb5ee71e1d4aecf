from __future__ import annotations

import csv
import io
import re

import pytest
from tests.golden.report_findings import changed
from tests.golden.screened import influence
from tests.unit.judge.test_sections import BY_PROFILE, found

from steelyard.judge.findings import RunFindings
from steelyard.report.formats.csv import csv_text
from steelyard.report.formats.csv_influence import influence_rows
from steelyard.report.formats.html import render
from steelyard.report.formats.markdown import markdown_text
from steelyard.report.sections import means_table, sections
from steelyard.report.view import views
from steelyard.study.labels import Labels
from steelyard.study.model import ReportSpec


@pytest.fixture(scope="module")
def profiled() -> RunFindings:
    findings = found(BY_PROFILE, lambda _: 1.1, names=("off", "balanced", "powersave"))
    return findings.model_copy(
        update={"author_notes": {"balanced": "Boots & <all>.\nIt idles.\n\nMore 50 %."}}
    )


def test_there_is_one_section_for_each_profile_with_its_means_and_its_own_conditions(
    profiled: RunFindings,
) -> None:
    balanced, powersave = sections(views(profiled)[0])
    assert (balanced.title, powersave.title) == ("balanced", "powersave")
    assert [row[0] for row in balanced.means.rows] == ["ext4", "xfs", "All together"]
    assert {row[1] for row in balanced.single.rows} == {"off", "balanced"}
    assert len(balanced.single.rows) == 8


def test_a_row_gives_seconds_and_percent_each_with_its_interval(profiled: RunFindings) -> None:
    row = sections(views(profiled)[0])[0].means.rows[-1]
    assert re.fullmatch(r"\+1\.\d+", row[3])
    assert re.fullmatch(r"\+[01]\.\d+ to \+1\.\d+", row[4])
    assert re.fullmatch(r"\+(9|10)\.\d %", row[5])
    assert row[6].endswith("more")
    assert row[7:] == ("slower", "16")


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (None, None, "not bounded on either side"),
        (0.5, None, "above +0.50, not bounded above"),
        (None, 2.0, "below +2.00, not bounded below"),
    ],
)
def test_a_difference_that_the_data_do_not_bound_says_so(
    profiled: RunFindings, low: float | None, high: float | None, said: str
) -> None:
    section = profiled.workloads[0].sections[0]
    ends = {"difference": 1.25, "difference_low": low, "difference_high": high}
    mean = section.means[0].model_copy(update=ends)
    table = means_table(section.model_copy(update={"means": (mean,)}), views(profiled)[0])
    assert table.rows[0][4] in {said, said.replace("0.50", "0.5").replace("2.00", "2.0")}


def test_the_authors_note_stands_in_its_section_and_is_marked_as_his(profiled: RunFindings) -> None:
    page, words = render(profiled), markdown_text(profiled)
    section = page.partition('id="section-1"')[2].partition("</section>")[0]
    assert "<b>The author&#39;s note</b>" in section
    assert "<p>Boots &amp; &lt;all&gt;. It idles.</p>" in section
    assert "nothing but the author's notes was written by hand" in page
    assert "> Boots & &lt;all&gt;. It idles.\n>\n> More 50 %." in words
    assert "author" not in page.partition('id="section-2"')[2].partition("</section>")[0]


def test_a_report_without_notes_says_that_nothing_was_written_by_hand(
    profiled: RunFindings,
) -> None:
    bare = profiled.model_copy(update={"author_notes": {}})
    assert "nothing was written by hand" in render(bare)


def test_the_flat_table_has_every_mean_with_its_group(profiled: RunFindings) -> None:
    rows = [r for r in csv.DictReader(io.StringIO(csv_text(profiled))) if r["kind"] == "mean"]
    assert [(r["system"], r["condition.fs"]) for r in rows[:3]] == [
        ("balanced", "ext4"),
        ("balanced", "xfs"),
        ("balanced", ""),
    ]
    assert float(rows[0]["low"]) < float(rows[0]["value"]) < float(rows[0]["high"])


def test_sections_by_a_size_are_headed_as_charts_are() -> None:
    findings = found(ReportSpec(sections_by="layout", means_by="fs"), lambda _: 1.0)
    (section, *_) = findings.workloads[0].sections
    mean = section.means[0].model_copy(update={"level": 65536})
    of_size = section.model_copy(update={"level": 4096, "means": (mean,)})
    sized = changed(
        findings,
        level_kinds={"layout": "size", "fs": "size"},
        sections=(of_size,),
        author_notes={"4 KiB": "Small."},
    )
    (shown,) = sections(views(sized)[0])
    assert (shown.title, shown.note) == ("4 KiB", "Small.")
    assert shown.means.rows[0][0] == "64 KiB"


def test_levels_of_effects_in_the_flat_table_have_their_units() -> None:
    labels = Labels({"workload.body": "size"})
    rows = list(influence_rows(influence(), "1/s", labels))
    body = next(row for row in rows if row.get("effect") == "workload.body" and "levels" in row)
    assert (body["levels"], body["against"]) == ("64 KiB", "4 KiB")
