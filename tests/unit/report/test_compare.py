from __future__ import annotations

import json

from tests.unit.history.test_series import host, run
from tests.unit.report.golden_findings import golden

from steelyard.judge.findings import RunFindings
from steelyard.report.compare import NO_TEST, compare_lines, compared_data
from steelyard.web.machines import machine_lines
from steelyard.web.pages.compare import side_by_side


def test_two_runs_are_put_side_by_side_without_a_test_between_them() -> None:
    lines = compare_lines(golden("decided"), golden("decided"))
    assert NO_TEST in lines
    assert lines[-1] == "8 comparisons in both runs, 0 of them contradictory."
    assert not any("differ:" in line for line in lines)


def test_opposed_verdicts_are_called_a_contradiction() -> None:
    lines = compare_lines(golden("decided"), golden("mixed"))
    at_4_users = lines.index("throughput of durable against fast, 4 users:")
    assert "slower, -71.3 %" in lines[at_4_users + 1]
    assert "faster, +0.60 %" in lines[at_4_users + 2]
    assert lines[at_4_users + 3].startswith("  CONTRADICTION")


def test_decided_against_undecided_is_no_contradiction() -> None:
    lines = compare_lines(golden("decided"), golden("mixed"))
    overall = lines.index("throughput of durable against fast, over all conditions:")
    assert not lines[overall + 3].startswith("  CONTRADICTION")


def test_a_comparison_that_one_run_lacks_is_shown_as_lacking() -> None:
    lines = compare_lines(golden("decided"), golden("mixed"))
    place = lines.index("response time p99 of durable against fast, over all conditions:")
    assert lines[place + 2].endswith("not in this run")


def test_what_makes_runs_hard_to_compare_is_said_first() -> None:
    other = golden("failed").model_copy(update={"study_sha256": "f" * 64, "tool_version": "0.2.0"})
    text = "\n".join(compare_lines(golden("decided"), other))
    assert "The study files differ: sha256 7c211433f020 and ffffffffffff." in text
    assert "The variants differ: none and small." in text
    assert "Made by different versions: 0.1.0 and 0.2.0." in text
    assert "Facts that differ between the systems are not the same in both" in text


def test_machines_that_are_not_the_same_are_said_as_the_page_says_them() -> None:
    here, there = (
        run(1, host=host(name).model_copy(update={"kernel": kernel}))
        for name, kernel in (("a", "6.1"), ("b", "6.12"))
    )
    lines = compare_lines(golden("decided"), golden("decided"), [*machine_lines(here, there)])
    assert lines[2:4] == ["Not the same host: a and b.", "Not the same kernel: 6.1 and 6.12."]
    assert {"host: a and b", "kernel: 6.1 and 6.12"} <= {*side_by_side(here, there).differ}
    differing = here.model_copy(update={"differing_facts": {"cpu.model": {"old": "x"}}})
    (said,) = side_by_side(here, differing).differ
    assert said == "facts that differ between what is compared: cpu.model"


def test_programs_that_are_not_the_same_in_both_runs_are_named() -> None:
    def tested(digest: str) -> RunFindings:
        facts = {"service.sha256": (f"server.py {digest * 64}",), "service.version": ("1.2",)}
        return golden("decided").model_copy(update={"tested": {"fast": facts}})

    lines = compare_lines(tested("a"), tested("b"))
    same = "NOT THE SAME was tested as fast: service.sha256 server.py "
    assert f"{same}aaaaaaaaaaaa… and server.py bbbbbbbbbbbb…." in lines
    assert not any("service.version" in line for line in lines)
    assert not any("NOT THE SAME" in line for line in compare_lines(tested("a"), tested("a")))


def test_the_data_of_a_comparison_hold_what_its_lines_say() -> None:
    data = compared_data(golden("decided"), golden("mixed"))
    lines = "\n".join(compare_lines(golden("decided"), golden("mixed")))
    assert data["note"] in lines
    assert all(line in lines for line in data["differ"])
    assert lines.count("CONTRADICTION") == sum(pair["contradiction"] for pair in data["pairs"])
    assert lines.count("not in this run") == sum(
        verdict is None for pair in data["pairs"] for verdict in pair["verdicts"]
    )
    assert json.loads(json.dumps(data)) == data
