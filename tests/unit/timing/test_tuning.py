"""Which candidate a search names, what it drops or leaves out, and how it goes on from a file."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from steelyard.cli.main import app
from steelyard.cli.timing.candidates import candidates_of
from steelyard.engine.locate import find_engine
from steelyard.records.results.tuning import Standing
from steelyard.timing.elimination import Block, CandidateFailed, Elimination, Rules

RULES = Rules(margin_log=math.log1p(0.02), budget_s=3600, seed=3)


class Simulated:
    """Visits of known levels with noise of 1 %; ``lost`` fail from their second visit on."""

    def __init__(self, sizes: Mapping[str, float], lost: tuple[str, ...] = ()) -> None:
        self.sizes, self.lost, self.asked = sizes, lost, list[str]()
        self.random = np.random.default_rng(7)

    def __call__(self, name: str) -> float:
        self.asked.append(name)
        if name in self.lost and self.asked.count(name) > 1:
            raise CandidateFailed("it is gone")
        return float(self.sizes[name] + self.random.normal(0, 0.01))


def sixty(best: str, by: float) -> dict[str, float]:
    return {f"c{i}": by if f"c{i}" == best else 0.0 for i in range(60)}


def ended(visit: Simulated, rules: Rules = RULES) -> tuple[Elimination, list[Block]]:
    blocks: list[Block] = []
    search = Elimination([*visit.sizes], visit, rules)
    search.run(blocks.append)
    return search, blocks


def test_of_sixty_candidates_the_best_is_named_and_those_that_are_dropped_are_not_measured_on() -> (
    None
):
    search, blocks = ended(Simulated(sixty("c41", 0.08)))
    found = search.candidates("c0")
    assert search.best == found[0].name == "c41"
    assert found[0].standing is Standing.BEST
    assert blocks[-1].remaining == ("c41",)
    assert found[0].estimate_log == pytest.approx(0.08, abs=0.04)
    dropped = [each for each in found if each.dropped_after is not None]
    assert len(dropped) == 59
    assert {each.standing for each in dropped} <= {Standing.WORSE, Standing.ALIKE}


def test_equal_candidates_end_with_one_of_them_and_are_not_called_worse() -> None:
    search, _ = ended(Simulated(sixty("c1", 0.0)))
    assert search.is_over
    standings = [each.standing for each in search.candidates("c0")]
    assert standings.count(Standing.ALIKE) >= 55


def test_a_candidate_that_fails_in_between_is_left_out_with_its_reason() -> None:
    search, _ = ended(Simulated(sixty("c5", 0.08), lost=("c5", "c9")))
    failed = {each.name: each.failure for each in search.candidates("c0")[-2:]}
    assert failed == {"c5": "it is gone", "c9": "it is gone"}
    assert search.best not in failed
    assert search.is_over


def test_a_budget_that_ends_leaves_those_open_that_may_be_better() -> None:
    search, blocks = ended(Simulated(sixty("c1", 0.0)), Rules(math.log1p(0.001), 0.0, 3))
    assert not search.is_over
    assert blocks[-1].further_visits > 0
    standings = [each.standing for each in search.candidates("c0")]
    assert standings.count(Standing.OPEN) > 30


def asked(*words: str) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, ["tune", *words], env={"COLUMNS": "300"})
    return done.exit_code, done.stdout, done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("true {a}",), "candidates or more"),
        (("true {a}", "-L", "a=1,2"), "candidates or more"),
        (("true {a}", "-L", "a=1,2,2"), "there twice"),
        (("true {a}", "-L", "a=1,,2"), "empty"),
        (("true {a}", "-L", "a"), "NAME=VALUE"),
        (("true", "-L", "a=1,2,3"), "{a}"),
        (("true {a}", "-L", "a=1,2,3", "-L", "a=4,5"), "given twice"),
        (("true {a}", "-L", "a=1,2,3", "--baseline", "4"), "no candidate"),
        (("true {a}", "-L", "a=1,2,3", "--margin", "fast"), "--margin"),
        (("true {profile}", "--profiles", "/proc/self"), "no profile of tuned"),
        (("true {a}", "--candidates", "/no/such.csv"), "/no/such.csv:1"),
    ],
)
def test_a_wrong_command_line_is_refused_with_what_is_wrong(
    words: tuple[str, ...], said: str
) -> None:
    code, _, err = asked(*words)
    assert code == 2
    assert said in err


@pytest.mark.parametrize(
    ("text", "line"),
    [("", 1), ("a,a\n1,2\n", 1), ("a,b\n", 2), ("a,b\n1,2\n1\n", 3), ("a,b\n1,2\n3,4\n1,2\n", 4)],
)
def test_a_wrong_file_of_candidates_is_refused_at_its_line(
    tmp_path: Path, text: str, line: int
) -> None:
    (tmp_path / "c.csv").write_text(text)
    code, _, err = asked("true {a} {b}", "--candidates", str(tmp_path / "c.csv"))
    assert code == 2
    assert f"c.csv:{line}:" in err


def test_candidates_are_every_combination_of_lists_rows_and_profiles(tmp_path: Path) -> None:
    (tmp_path / "c.csv").write_text("a,b\n1,2\n3,4\n")
    for name in ("own", "saving"):
        (tmp_path / "tuned" / name).mkdir(parents=True)
        (tmp_path / "tuned" / name / "tuned.conf").write_text("[main]\n")
    (tmp_path / "tuned" / "empty").mkdir()
    lines = ("{a} {b} {c}", "", "tuned-adm profile {profile}")
    found = candidates_of(["c=x,y,z"], tmp_path / "c.csv", tmp_path / "tuned", lines)
    assert len(found) == 12
    assert found[0].name == "c=x a=1 b=2 profile=own"
    assert found[0].fill(lines[2]) == "tuned-adm profile own"


NUMBER = (
    "--number", r"(\d+)", "--number-higher", "--margin", "5%", "--budget", "30min", "--json",
    "--seed", "1", "-L", "a=1,2,3,4,5,6",
)  # fmt: skip


def test_the_best_of_printed_numbers_is_named_with_its_gain_and_a_broken_one_is_left_out() -> None:
    find_engine()
    line = "test {a} != 2 && echo $(( 1000 + 300 * ( {a} == 5 ) + 1$(date +%N) / 1000 % 9 ))"
    code, out, _ = asked(*NUMBER, "--baseline", "3", line)
    found = json.loads(out)
    assert (code, found["outcome"], found["best"]) == (0, "found", "5")
    assert (found["gain"]["before"], found["gain"]["word"]) == ("3", "faster")
    assert [c["name"] for c in found["candidates"] if c["standing"] == "failed"] == ["2"]


def test_candidates_that_show_one_figure_each_are_not_judged_and_none_is_named() -> None:
    find_engine()
    words = ("--number", r"(\d+)", "-L", "n=1,2,3", "test {n} != 2 && echo {n}")
    code, out, err = asked(*words, "--json", "--budget", "5min")
    found = json.loads(out)
    assert (code, found["outcome"], found["best"], found["gain"]) == (7, "not_judged", "1", None)
    assert err == ""
    told = asked(*words)[1]
    assert "no variation" in told
    assert "noise" not in told


def test_one_candidate_that_varies_gives_noise_to_judge_all_by() -> None:
    class Varied(Simulated):
        def __call__(self, name: str) -> float:
            return super().__call__(name) if name == "c1" else self.sizes[name]

    search, _ = ended(Varied({"c0": 0.0, "c1": 0.08, "c2": 0.0}))
    assert search.best == "c1"
    assert not search.is_constant


def test_a_baseline_that_fails_ends_the_search(tmp_path: Path) -> None:
    find_engine()
    cleaned = tmp_path / "cleaned"
    code, _, err = asked(*NUMBER, "--cleanup", f"touch {cleaned}", "test {a} != 1 && echo 1")
    assert code == 3
    assert "the baseline, cannot be measured" in err
    assert cleaned.exists()


def test_a_search_goes_on_from_its_visits_and_refuses_those_of_another(tmp_path: Path) -> None:
    find_engine()
    visits, count = tmp_path / "visits.jsonl", tmp_path / "count"
    line = f"echo . >> {count}; echo $(( 1000 + 300 * ( {{a}} == 5 ) + 1$(date +%N) / 1000 % 9 ))"
    words = (*NUMBER, "--visits", str(visits), "--baseline", "5", line)
    first = json.loads(asked(*words)[1])
    kept = visits.read_text().splitlines(keepends=True)
    assert len(kept) == 1 + sum(each["visits"] for each in first["candidates"])
    visits.write_text("".join(kept[:9]) + kept[9][:5])
    again = json.loads(asked(*words)[1])
    assert visits.read_text().splitlines(keepends=True)[:9] == kept[:9]
    assert again["best"] == first["best"] == "5"
    before = count.read_text()
    code, _, err = asked(*words, "--margin", "1%")
    assert (code, count.read_text()) == (3, before)
    assert "visits.jsonl:1" in err


def test_every_cleanup_is_run_though_one_fails_and_the_result_is_printed(tmp_path: Path) -> None:
    find_engine()
    line = "echo $(( 1000 + 300 * ( {a} == 5 ) + 1$(date +%N) / 1000 % 9 ))"
    code, out, err = asked(*NUMBER, "--cleanup", f"touch {tmp_path}/{{a}}; test {{a}} != 2", line)
    assert code == 3
    assert json.loads(out)["best"] == "5", "what was found is not lost"
    assert "the cleanup command" in err
    assert len([*tmp_path.iterdir()]) == 6
