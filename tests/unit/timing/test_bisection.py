"""Which level a bisection names, what it spends, and how it ends where it can name none."""

from __future__ import annotations

import json
import math
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from typer.testing import CliRunner

from steelyard.cli.main import app
from steelyard.engine.locate import find_engine
from steelyard.errors import HostError
from steelyard.judge import judge_trials
from steelyard.records.results.bisection import Change, Outcome, Step
from steelyard.report.sentences.terminal.bisection import change_text
from steelyard.timing.bisection import LevelSkipped, bisected
from steelyard.timing.commits import Commits
from steelyard.timing.levels import change_of


class Exact:
    """Measures levels of known size without noise; ``lost`` cannot be prepared."""

    def __init__(self, sizes: Mapping[str, float], lost: Sequence[str] = ()) -> None:
        self.sizes, self.lost = sizes, lost
        self.alphas: list[float] = []

    def __call__(
        self, pairs: Sequence[tuple[str, str]], alpha: float, steps_left: int, wanted: str | None
    ) -> Step:
        del steps_left, wanted
        for level in {level for pair in pairs for level in pair}:
            if level in self.lost:
                raise LevelSkipped(level)
        self.alphas.append(alpha)
        return Step(tuple(self._change(*pair) for pair in pairs), alpha, 10)

    def _change(self, before: str, after: str) -> Change:
        log = math.log(self.sizes[after] / self.sizes[before])
        word = "equivalent" if abs(log) < 0.01 else "slower" if log > 0 else "faster"
        return Change(before, after, word, log, log, log)


@pytest.mark.parametrize("pair", [("a", "b"), ("b", "a")])
def test_a_change_is_printed_with_the_level_of_its_interval(pair: tuple[str, str]) -> None:
    values = [1.0 + 0.001 * place + (place % 2) for place in range(24)]
    found = judge_trials(["a", "b"] * 12, values, baseline="a", direction="lower", design="none")
    change = change_of(pair, "a", found)
    assert change.interval_level == 0.95
    assert "(95 %: " in change_text(change)


def levels(*sizes: float) -> dict[str, float]:
    return {f"v{i}": size for i, size in enumerate(sizes)}


@pytest.mark.parametrize("count", [2, 3, 4, 7, 17, 100])
def test_every_level_is_found_within_one_step_and_the_logarithm(count: int) -> None:
    for at in range(1, count):
        measure = Exact(levels(*[1.0] * at, *[1.2] * (count - at)))
        found = bisected([*measure.sizes], measure)
        assert (found.outcome, found.culprit) == (Outcome.FOUND, f"v{at}")
        assert found.last_before == f"v{at - 1}"
        assert len(found.steps) <= 1 + math.ceil(math.log2(count - 1))


@pytest.mark.parametrize("lost", [(), ("v8",), ("v3", "v4", "v5", "v8", "v9")])
def test_all_steps_together_spend_the_error_rate_at_most(lost: tuple[str, ...]) -> None:
    measure = Exact(levels(*[1.0] * 11, *[1.2] * 6), lost)
    bisected([*measure.sizes], measure, 0.05)
    assert sum(measure.alphas) <= 0.05 + 1e-12
    assert min(measure.alphas) > 0.005


def test_of_several_changes_a_true_one_in_the_direction_of_the_ends_is_found() -> None:
    measure = Exact(levels(1, 1, 0.8, 0.8, 1.1, 1.1, 1.5, 1.5))
    found = bisected([*measure.sizes], measure)
    assert measure.sizes[found.culprit] > measure.sizes[found.last_before]
    assert found.change is not None
    assert (found.change.before, found.change.after) == (found.last_before, found.culprit)


def test_levels_that_cannot_be_prepared_stay_candidates() -> None:
    measure = Exact(levels(1, 1, 1, 1, 1.2, 1.2, 1.2), ("v3", "v4"))
    found = bisected([*measure.sizes], measure)
    assert found.candidates == ("v3", "v4", "v5")
    assert set(found.skipped) == {"v3", "v4"}


def test_an_end_that_cannot_be_prepared_ends_the_search() -> None:
    measure = Exact(levels(1, 1, 2), ("v2",))
    with pytest.raises(LevelSkipped):
        bisected([*measure.sizes], measure)


def test_equal_ends_are_no_change_after_one_step() -> None:
    found = bisected(["a", "b", "c"], Exact({"a": 1, "b": 1, "c": 1}))
    assert (found.outcome, len(found.steps)) == (Outcome.NO_CHANGE, 1)


def test_a_step_that_shows_nothing_leaves_what_is_bounded_so_far() -> None:
    class Tired(Exact):
        def _change(self, before: str, after: str) -> Change:
            change = super()._change(before, after)
            if len(self.alphas) < 4:
                return change
            return Change(before, after, "undecided", None, None, None)

    measure = Tired(levels(*[1.0] * 6, *[1.2] * 11))
    found = bisected([*measure.sizes], measure)
    assert (found.outcome, found.last_before, found.culprit) == (Outcome.UNDECIDED, "v4", "v8")


def asked(*words: str) -> tuple[int, str, str]:
    ended = CliRunner().invoke(app, ["bisect", *words], env={"COLUMNS": "200"})
    return ended.exit_code, ended.stdout, ended.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("true {level}",),
        ("--levels", "a,b", "true"),
        ("--levels", "a,a", "true {level}"),
        ("--levels", "a,,b", "true {level}"),
        ("--levels", "a", "true {level}"),
        ("--levels", "a,b", "--good", "b", "--bad", "a", "true {level}"),
        ("--levels", "a,b", "--bad", "z", "true {level}"),
        ("--levels", "a,b", "--git", "a..b", "true {level}"),
    ],
)
def test_a_wrong_command_line_is_refused(words: tuple[str, ...]) -> None:
    assert asked(*words)[0] == 2


@pytest.mark.parametrize(
    ("words", "option", "said"),
    [
        (("--levels", "1", "true {level}"), "--levels", "2 levels or more"),
        (("--levels", "1,2,3", "--good", "9", "true {level}"), "--good", "no level: 1, 2, 3"),
    ],
)
def test_a_wrong_end_and_a_single_level_are_named(
    words: tuple[str, ...], option: str, said: str
) -> None:
    _, _, err = asked(*words)
    assert option in err
    assert said in err
    assert "..." not in err


def test_a_number_without_variation_is_not_judged_and_the_reason_is_printed() -> None:
    find_engine()
    words = ("--levels", "1,2,3", "echo {level}", "--number", r"(\d+)", "--budget", "10s")
    code, out, err = asked(*words)
    assert code == 7
    assert "not judged: no variation" in err
    assert "no variation" in out
    found = json.loads(asked(*words, "--json")[1])
    assert found["steps"][0]["changes"][0]["why"][0]["kind"] == "no_variation"


def test_a_printed_number_that_changed_is_found_and_a_broken_level_is_skipped() -> None:
    find_engine()
    noise = "$(( 1000 + 200 * ( {level} > 3 ) + 1$(date +%N) / 1000 % 7 ))"
    code, out, _ = asked(
        "--levels", "1,2,3,4,5", "--setup", "test {level} != 2", "--json", "--seed", "1",
        "--budget", "30min", "--number", r"(\d+)", f"echo {noise}",
    )  # fmt: skip
    found = json.loads(out)
    assert (code, found["outcome"], found["culprit"]) == (0, "found", "4")
    assert found["candidates"] == ["4"]


def repository(folder: Path, sizes: Sequence[int] = (10, 10, 30)) -> None:
    def git(*words: str) -> None:
        name = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
        subprocess.run(["git", *name, *words], cwd=folder, check=True, capture_output=True)

    git("init", "--quiet")
    for size in sizes:
        (folder / "size").write_text(str(size))
        git("add", "size")
        git("commit", "--quiet", "--allow-empty", "--message", f"size {size}")


def test_each_commit_has_a_worktree_that_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository(tmp_path)
    monkeypatch.chdir(tmp_path)
    with Commits("HEAD~2..HEAD") as commits:
        assert len(commits.levels) == 3
        folders = [commits.folder(level) for level in commits.levels]
        assert [(folder / "size").read_text() for folder in folders] == ["10", "10", "30"]
    assert not any(folder.exists() for folder in folders)
    listed = subprocess.run(["git", "worktree", "list"], capture_output=True, text=True, check=True)
    assert len(listed.stdout.splitlines()) == 1


@pytest.mark.extended
def test_the_commit_of_a_repository_that_changed_a_number_is_found_by_building_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    find_engine()
    repository(tmp_path, (10, 12, 10, 30))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "size").write_text("not committed")
    (tmp_path / "calls").write_text("0")
    call = f"calls=$(cat {tmp_path}/calls); echo $(( calls + 1 )) > {tmp_path}/calls"
    code, out, _ = asked(
        "--git", "HEAD~3..HEAD", "--json", "--seed", "1", "--number", r"(\d+)",
        "--setup", "test $(cat {folder}/size) != 12 && cp {folder}/size {folder}/built",
        f"{call}; echo $(( $(cat {{folder}}/built) / 10 * 1000 + calls * 13 % 29 ))",
    )  # fmt: skip
    found = json.loads(out)
    changed = subprocess.run(
        ["git", "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True, check=True
    )
    assert (code, found["outcome"], found["culprit"]) == (0, "found", changed.stdout.strip())
    assert found["candidates"] == [changed.stdout.strip()]
    assert (tmp_path / "size").read_text() == "not committed"
    listed = subprocess.run(["git", "worktree", "list"], capture_output=True, text=True, check=True)
    assert len(listed.stdout.splitlines()) == 1


@pytest.mark.parametrize("wanted", ["HEAD", "no-such..HEAD", "HEAD...HEAD"])
def test_what_is_no_range_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wanted: str
) -> None:
    repository(tmp_path)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(HostError):
        Commits(wanted)
