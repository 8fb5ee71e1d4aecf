"""Tables of a run: for the terminal, and as the marked block of docs/concepts/honest-latency.md."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.truth import criteria

BEGIN = "<!-- truth tests: begin (written by python -m bench.truth --write-page) -->"
END = "<!-- truth tests: end -->"


def time_text(value: float | None) -> str:
    """Nanoseconds in the unit that fits."""
    if value is None:
        return "–"
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if abs(value) >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value:.0f} ns"


def figures_text(cell: dict[str, Any]) -> str:
    """The figures behind a cell, in words."""
    figures = cell["figures"]
    writers = {
        "server-stop": server_stop_text,
        "generator-stop": generator_stop_text,
        "delay": delay_text,
        "little": little_text,
        "constant-1k": gaps_text,
        "constant-10k": gaps_text,
        "poisson": poisson_text,
        "log": log_text,
        "soak": soak_text,
    }
    told = writers[cell["test"]](figures) if figures and cell["test"] in writers else ""
    noise = "noisy: " + ", ".join(cell["noise"]) if cell["noise"] else ""
    return "; ".join(part for part in (told, cell["note"], noise) if part)


def server_stop_text(figures: dict[str, Any]) -> str:
    pairs = (
        f"{name} {time_text(figures['reported_ns'][name])} (must be {time_text(expected)})"
        for name, expected in figures["expected_ns"].items()
    )
    return ", ".join(pairs)


def generator_stop_text(figures: dict[str, Any]) -> str:
    told = f"max {time_text(figures['max_ns'])} of {time_text(figures['stop_ns'])}"
    told += f", p99 {time_text(figures['p99_ns'])}"
    told += f" (must be {time_text(figures['expected_p99_ns'])})" if figures["rate"] else ""
    doubts = figures.get("doubts")
    return told + (f", verdict names {', '.join(doubts)}" if doubts else "")


def delay_text(figures: dict[str, Any]) -> str:
    if "above_p50_ns" not in figures:
        return ""
    told = f"above the delay: {both_times(figures)}"
    if "polling" in figures:
        told += f"; when it polls and never sleeps: {both_times(figures['polling'])}"
    if "floor" not in figures:
        return told
    over = figures["over_floor"]
    ways = [spread_text(over[key], time_text) for key in ("above_p50_ns", "above_p99_ns")]
    told += f"; minimal client: {both_times(figures['floor'])}"
    return f"{told}; above it in {figures['pairs']} pairs: p50 {ways[0]}, p99 {ways[1]}"


def both_times(figures: dict[str, Any]) -> str:
    p50, p99 = (time_text(figures[key]) for key in ("above_p50_ns", "above_p99_ns"))
    return f"p50 {p50}, p99 {p99}"


def spread_text(values: list[float], text: Callable[[float], str]) -> str:
    """A median and what it lies between."""
    middle, low, high = (text(value) for value in values)
    return f"{middle} ({low} to {high})"


def little_text(figures: dict[str, Any]) -> str:
    if "product" not in figures:
        return ""
    return f"{figures['users']} users, product {figures['product']:.2f}"


def gaps_text(figures: dict[str, Any]) -> str:
    if "cv" not in figures:
        return ""
    told = f"varies by {figures['cv']:.1%} at {figures['per_s']:.0f}/s"
    told += f" ({figures['cv_of_slices']:.1%} between interruptions)"
    if "floor" not in figures:
        return told
    least, over = figures["floor"], figures["over_floor"]["cv"]
    told += f"; minimal client: {least['cv']:.1%} ({least['cv_of_slices']:.1%})"
    times = spread_text(over, lambda value: f"{value:.2f}")
    return f"{told}; {times} times as much in {figures['pairs']} pairs"


def poisson_text(figures: dict[str, Any]) -> str:
    if "d" not in figures:
        return ""
    return f"D {figures['d']:.4f}, limit {figures['limit']:.4f}, p {figures['p']:.2g}"


def log_text(figures: dict[str, Any]) -> str:
    told = f"{figures.get('samples', 0)} samples, checked {', '.join(figures.get('checked', []))}"
    wrong = figures.get("wrong") or {}
    return told + "".join(
        f"; {name} {row[0]:.0f} is not within {row[1]:.0f} to {row[2]:.0f}"
        for name, row in wrong.items()
    )


def soak_text(figures: dict[str, Any]) -> str:
    if "per_s" not in figures:
        return ""
    memory = [value / 1024 for value in figures["rss_bytes_per_h"]]
    pace = figures["throughput_share_per_h"]
    return (
        f"{figures['minutes']:g} minutes: memory {memory[0]:+.0f} KiB an hour "
        f"({memory[1]:+.0f} to {memory[2]:+.0f}), throughput {pace[0]:+.1%} an hour "
        f"({pace[1]:+.1%} to {pace[2]:+.1%})"
    )


def line(cell: dict[str, Any]) -> str:
    """One cell for the terminal."""
    return f"{cell['test']:15} {cell['tool']:10} {cell['state']:10} {figures_text(cell)}"


def summary(document: dict[str, Any]) -> str:
    """The table, tests down and tools across."""
    tools = list(document["tools"])
    rows = ["| test | " + " | ".join(tools) + " |", "|---" * (len(tools) + 1) + "|"]
    states = {(cell["test"], cell["tool"]): cell["state"] for cell in document["cells"]}
    for test in criteria.TESTS:
        words = (marked(states.get((test.key, tool), "not run")) for tool in tools)
        rows.append(f"| {test.title} | " + " | ".join(words) + " |")
    return "\n".join(rows)


def marked(state: str) -> str:
    """What a reader looks for stands out."""
    return f"**{state}**" if state == "failed" else state


def block(document: dict[str, Any], source: str) -> str:
    """The whole marked block."""
    parts = [
        BEGIN,
        origin(document, source),
        summary(document),
        *(section(test, document["cells"]) for test in criteria.TESTS),
        END,
    ]
    return "\n\n".join(parts)


def origin(document: dict[str, Any], source: str) -> str:
    """Which machine, which versions, which file."""
    machine = document["machine"]
    tools = document["tools"].items()
    versions = ", ".join(f"{name} ({version})" for name, version in tools if version)
    absent = [f"{name} is not installed" for name, version in tools if not version]
    return (
        f"Made {document['made']} with Linux {machine['kernel']} on {machine['cores']} cores "
        f"({machine['cpu']}); generator on core 0, server on core 1, loopback. Tools: {versions}. "
        f"Not run: {'; '.join([*absent, *document['not_run'].values()])}. "
        f"All figures are in `bench/runs/{source}`.{busy(document['cells'])}"
    )


def busy(cells: list[dict[str, Any]]) -> str:
    """A warning where the machine left cells open."""
    count = sum(cell["state"] == "too noisy" for cell in cells)
    if count == 0:
        return ""
    return f" **The machine was busy: {count} cells are open.** Run it again on a quiet one."


def section(test: criteria.Test, cells: list[dict[str, Any]]) -> str:
    """One test: what is done, what passes, and what each tool said."""
    rows = [
        f"| {c['tool']} | {marked(c['state'])} | {figures_text(c)} |"
        for c in cells
        if c["test"] == test.key
    ]
    head = f"#### {test.title}\n\nDone: {test.done}.\nPasses: {test.passes}.\nWhy: {test.why}."
    return "\n".join([head, "", "| tool | | figures |", "|---|---|---|", *rows])


def write(path: Path, document: dict[str, Any], source: str) -> None:
    """Replaces what stands between the two marks."""
    text = path.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    _, mark, after = rest.partition(END)
    if not mark:
        raise ValueError(f"{path} lacks the marks {BEGIN!r} and {END!r}")
    path.write_text(before + block(document, source) + after, encoding="utf-8")
