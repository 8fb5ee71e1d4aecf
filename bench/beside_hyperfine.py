"""``steelyard time`` beside hyperfine on equal commands and on commands 2 % apart, interleaved.

Both get as long; hyperfine's times are judged as its script ``welch_ttest.py`` does, at 5 %.
Prints how often equal commands were called different, how often the slower one was found, the time
taken, and how long it is from the start of a tool to its first run of a command. A benchmark, not
a test: figures of one machine at one time.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from scipy.stats import ttest_ind

STEELYARD = Path(sys.executable).parent / "steelyard"
STEPS = 400_000
"""Of an addition in awk: some 30 ms."""
CASES = {"equal": 1.0, "2 % slower": 1.02}
ERROR_RATE = 0.05


def main() -> None:
    """``python -m bench.beside_hyperfine ROUNDS SECONDS``."""
    rounds, seconds = int(sys.argv[1]), float(sys.argv[2])
    if shutil.which("hyperfine") is None:
        sys.exit(
            "steelyard: hyperfine is needed: apt install hyperfine, or cargo install hyperfine"
        )
    found: dict[tuple[str, str], list[tuple[str, float]]] = {}
    first_s: dict[str, list[float]] = {tool: [] for tool in FIRST}
    load = [os.getloadavg()[0]]
    for _ in range(rounds):
        for tool in random.sample(sorted(FIRST), len(FIRST)):
            first_s[tool].append(_first_run_s(FIRST[tool]))
        turns = [(case, tool) for case in CASES for tool in TOOLS]
        random.shuffle(turns)
        for case, tool in turns:
            begun = time.monotonic()
            word = TOOLS[tool](_command(1.0), _command(CASES[case]), seconds)
            found.setdefault((case, tool), []).append((word, time.monotonic() - begun))
            load.append(os.getloadavg()[0])
    print(f"{rounds} rounds, load {min(load):.1f} to {max(load):.1f}")
    for (case, tool), each in sorted(found.items()):
        words = [word for word, _ in each]
        counts = ", ".join(f"{words.count(word)} {word}" for word in sorted(set(words)))
        took = [took_s for _, took_s in each]
        print(
            f"{case:11} {tool:10} {counts}; {statistics.median(took):.1f} s "
            f"({min(took):.1f} to {max(took):.1f})"
        )
    for tool, each_s in first_s.items():
        low, high = min(each_s), max(each_s)
        print(f"first run  {tool:10} {statistics.median(each_s):.2f} s ({low:.2f} to {high:.2f})")


def _command(factor: float) -> str:
    return f"awk 'BEGIN {{ for (i = 0; i < {int(STEPS * factor)}; i++) s += i }}'"


def _steelyard(one: str, other: str, seconds: float) -> str:
    asked = [
        one,
        other,
        "--shell",
        "none",
        "--margin",
        "1%",
        "--budget",
        f"{seconds:g} s",
        "--json",
    ]
    verdict = json.loads(_output([str(STEELYARD), "time", *asked]))["verdict"]
    return str(verdict["verdicts"][0]["word"]) if verdict else "not_judged"


def _hyperfine(one: str, other: str, seconds: float) -> str:
    """As many runs of each as fit: hyperfine itself measures for at least 3 s, and ten runs."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "times.json"
        begun = time.monotonic()
        _output(["hyperfine", "-N", "--runs", "2", "--style", "none", one])
        runs = max(10, int(seconds / (time.monotonic() - begun)))
        _output(["hyperfine", "-N", "--runs", f"{runs}", "--style", "none",
                 "--export-json", str(file), one, other])  # fmt: skip
        times = [result["times"] for result in json.loads(file.read_text())["results"]]
    if ttest_ind(*times, equal_var=False).pvalue >= ERROR_RATE:
        return "undecided"
    return "slower" if statistics.mean(times[1]) > statistics.mean(times[0]) else "faster"


def _first_run_s(argv: list[str]) -> float:
    """From the start of a tool to the first run of the command that it times."""
    with tempfile.TemporaryDirectory() as folder:
        stamped = Path(folder, "stamped")
        script = Path(folder, "stamp")
        script.write_text(f"date +%s%N >> {stamped}\n", encoding="ascii")
        begun_ns = time.time_ns()
        _output([*argv, f"sh {script}", f"sh {script} again"])
        return (int(stamped.read_text(encoding="ascii").split()[0]) - begun_ns) / 1e9


def _output(argv: list[str]) -> str:
    return subprocess.run(argv, check=True, capture_output=True, text=True).stdout


TOOLS: dict[str, Callable[[str, str, float], str]] = {
    "steelyard": _steelyard,
    "hyperfine": _hyperfine,
}
FIRST = {
    "steelyard": [str(STEELYARD), "time", "--shell", "none", "--budget", "1 s"],
    "hyperfine": ["hyperfine", "-N", "--runs", "8", "--style", "none"],
}

if __name__ == "__main__":
    main()
