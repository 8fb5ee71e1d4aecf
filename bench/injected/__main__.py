"""Faults in the trials of one system, and systems limited by one resource: what is named."""

from __future__ import annotations

import argparse
import itertools
import json
import os
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bench.injected import machine, page
from bench.injected.causes import LIMITED, Limited, measured
from bench.injected.causes import TRIALS as CAUSE_TRIALS
from bench.injected.faults import FAULTS, NO_FAULT, Fault
from bench.injected.study import TRIALS, conducted
from bench.truth.__main__ import machine as facts
from bench.truth.__main__ import unused

from steelyard.judge.kinds.verdict_notes import CAUSES

ROOT = Path(__file__).parents[2]
RUNS = ROOT / "bench" / "runs"
PAGE = ROOT / "docs" / "methods" / "injected-faults.md"
ANY_KIND = frozenset({*map(str, CAUSES), "swapped"})


def main() -> int:
    """0 when every study ended; what was found is a finding."""
    options = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    if options.source is None:
        lacking = machine.lacking()
        if lacking is not None:
            print(f"steelyard: needed and not here: {lacking}", file=sys.stderr)
            return 3
        document = run(options)
        path = unused(RUNS / f"{time.strftime('%Y-%m-%d')}-injected.json")
        path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    else:
        path = options.source
        document = json.loads(path.read_text(encoding="utf-8"))
    print(page.faults(document), page.causes(document), sep="\n\n")
    if options.write_page:
        PAGE.write_text(page.whole(document, path.name), encoding="utf-8")
    return 0


def arguments() -> argparse.Namespace:
    names = [each.words for each in (*FAULTS, *NO_FAULT)] + [each.words for each in LIMITED]
    parser = argparse.ArgumentParser(prog="python -m bench.injected", description=__doc__)
    parser.add_argument("--minutes", type=float, default=30.0, help="begin nothing after so long")
    parser.add_argument("--only", nargs="+", choices=names, default=names, help="only these")
    parser.add_argument("--write-page", action="store_true", help=f"renew {PAGE.name} in docs/")
    parser.add_argument("--add-to", type=Path, help="go on with the cases of this file")
    parser.add_argument("--from", dest="source", type=Path, help="run nothing, use this file")
    return parser.parse_args()


def run(options: argparse.Namespace) -> dict[str, Any]:
    """One of each in turn, until the time is over."""
    machine.clean_up()
    began_s = time.monotonic()
    document = _begun() if options.add_to is None else json.loads(options.add_to.read_text())
    for work in _in_turn(options.only):
        if time.monotonic() - began_s > options.minutes * 60:
            break
        with tempfile.TemporaryDirectory(prefix="steelyard-injected-") as folder:
            if isinstance(work, Limited):
                document["causes"] += map(_tell, _cells(work, Path(folder)))
            else:
                document["faults"].append(_tell(_fault(work, Path(folder))))
    document["kinds"] = [each.words for each in (*FAULTS, *LIMITED, *NO_FAULT)]
    document["took_s"] += round(time.monotonic() - began_s)
    document["load_average"][1] = os.getloadavg()[0]
    return document


def _begun() -> dict[str, Any]:
    return {
        "bench": "injected",
        "began": time.strftime("%Y-%m-%d"),
        "machine": facts(),
        "trials": TRIALS,
        "cause_trials": CAUSE_TRIALS,
        "stand_ins": {each.words: each.how for each in FAULTS if each.how},
        "took_s": 0,
        "load_average": [os.getloadavg()[0]] * 2,
        "faults": [],
        "causes": [],
    }


def _in_turn(names: list[str]) -> Iterator[type[Fault] | Limited]:
    every = [each for each in (*FAULTS, *LIMITED, *NO_FAULT) if each.words in names]
    return itertools.cycle(every)


def _fault(kind: type[Fault], folder: Path) -> dict[str, Any]:
    fault = kind(folder)
    try:
        came = conducted(fault)
    finally:
        fault.close()
    kinds = kind.kinds or ANY_KIND
    caught = [
        f"{name} ({how})"
        for how, found in (
            ("warning", came.by_warning),
            ("judge", came.judged),
            ("outcome", came.refused),
        )
        for name in found
        if name in kinds
    ]
    real = kind not in NO_FAULT
    return {"fault": kind.words, "real": real, "caught_by": caught, **asdict(came)}


def _cells(limited: Limited, folder: Path) -> list[dict[str, Any]]:
    about = {"cause": limited.words, "how": limited.how, "right": sorted(limited.right)}
    return [about | asdict(named) for named in measured(limited, folder)]


def _tell(case: dict[str, Any]) -> dict[str, Any]:
    print(json.dumps({k: v for k, v in case.items() if k not in ("how", "right")}), file=sys.stderr)
    return case


if __name__ == "__main__":
    sys.exit(main())
