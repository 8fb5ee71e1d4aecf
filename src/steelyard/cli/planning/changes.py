"""``steelyard plan --changes``: all that a run would do to machines, and what they lack for it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from steelyard.cli.doctor.examination import existing
from steelyard.cli.doctor.preflight import MACHINES_AT_ONCE, look_now
from steelyard.cli.machine_words import clock_line, is_skewed, kinds_line
from steelyard.cli.session.new_run import new_run
from steelyard.engine.locate import check_version, find_engine
from steelyard.hosts.clocks import WallOffset
from steelyard.hosts.kinds import Kind, kinds_of
from steelyard.hosts.looks import only_looks
from steelyard.plan.make import Planned
from steelyard.plan.model import Plan
from steelyard.records.archive import in_full
from steelyard.study.file.places import StudyPlaces
from steelyard.study.file.source import study_path
from steelyard.study.model import Study
from steelyard.trial.rehearsal.needs import Needs, needs_of
from steelyard.trial.rehearsal.session import PHASES, rehearse
from steelyard.trial.rehearsal.steps import Step
from steelyard.trial.shortfall import Shortfall
from steelyard.units import format_duration

_NEXT_LINE = "\n" + " " * 8
"""Of a script, whose line ends part its commands."""
_MARK = {True: " [root]", False: ""}


@dataclass(frozen=True)
class Changes:
    """The steps of a run, what its machines need for them, and what they lack."""

    steps: list[Step]
    needs: list[Needs]
    missing: list[tuple[str, Shortfall]]
    unreachable: dict[str, str]
    walls: dict[str, WallOffset]
    kinds: dict[str, Kind]

    def document(self) -> dict[str, Any]:
        """Keys beside those of the plan."""
        return {
            "changes": [step.document() for step in self.steps],
            "needs": [asdict(each) for each in self.needs],
            "missing": [{"place": place, **asdict(one)} for place, one in self.missing],
            "unreachable": self.unreachable,
            "wall_clocks": {name: asdict(wall) for name, wall in self.walls.items()},
        }

    def lines(self) -> Iterator[str]:
        """Per machine, in the order in which it is done first."""
        yield ""
        yield "What the run would start, write and set. RUN is its folder, MARK and TRIAL are parts"
        yield "of names that each run and trial has, PORT is a free one; [root]: only root may."
        machines = sorted(self.steps, key=lambda step: step.machine != "local")
        for machine, steps in groupby(_together(machines), key=lambda step: step.machine):
            yield ""
            yield f"on {machine}"
            yield from _by_phase(list(steps))
        yield ""
        yield from map(_needed, self.needs)
        yield from (clock_line(*each) for each in self.walls.items() if is_skewed(each[1]))
        yield from _lacking(self.missing, self.unreachable)


def changes_of_parts(path: Path, parts: Mapping[str, Planned], results: Path) -> dict[str, Changes]:
    """As :func:`changes_of`, for each machine of a study, many of them at once."""

    def of(part: Planned) -> Changes:
        return changes_of(path, part.study, part.plan, results)

    with ThreadPoolExecutor(MACHINES_AT_ONCE) as pool:
        return dict(zip(parts, pool.map(of, parts.values()), strict=True))


def changes_of(path: Path, study: Study, plan: Plan, results: Path) -> Changes:
    """Looks at the machines of a study and goes through a run of it.

    Raises:
        EngineError: the engine is missing or of another version.
    """
    check_version(find_engine())
    file = study_path(path)
    with TemporaryDirectory(prefix="steelyard-plan-") as aside:
        run = new_run(path, study, plan, Path(aside))
        steps = rehearse(study, plan, run, in_full(results).absolute() / study.name / run.name)
    places = StudyPlaces.of(file.read_bytes(), file, study.variant)
    looked = look_now(study, file, existing(in_full(results).absolute()))
    missing = [(places.line_of(one.system, one.key), one) for one in looked.missing]
    needs = needs_of(study, plan)
    return Changes(steps, needs, missing, looked.unreachable, looked.walls, looked.kinds)


def kinds_lines(found: Mapping[str, Changes]) -> Iterator[str]:
    """That the machines of a study are of several kinds."""
    kinds = kinds_of(each for changes in found.values() for each in changes.kinds.items())
    if len(kinds) > 1:
        yield kinds_line(kinds)


def _together(steps: Sequence[Step]) -> list[Step]:
    order = {name: number for number, name in enumerate(dict.fromkeys(s.machine for s in steps))}
    return sorted(steps, key=lambda step: order[step.machine])


def _by_phase(steps: list[Step]) -> Iterator[str]:
    everyone = {name for step in steps for name in step.systems}
    done = [step for step in steps if step.kind != "look"]
    for phase in sorted({step.phase for step in done}, key=PHASES.index):
        yield f"  {phase.replace('_', ' ')}"
        for step in done:
            if step.phase == phase:
                few = step.systems and set(step.systems) != everyone
                whose = f"  ({', '.join(step.systems)})" if few else ""
                yield f"    {_told(step)}{_MARK[step.needs_root]}{whose}"
    looks = sorted({_program(step.words) for step in steps if step.kind == "look"})
    if looks:
        yield f"  to look, and change nothing: {', '.join(looks)}"


def _program(words: Sequence[str]) -> str:
    return words[0] if only_looks(words) else " ".join(words)


def _told(step: Step) -> str:
    words = shlex.join(word.rstrip("\n") for word in step.words).replace("\n", _NEXT_LINE)
    if step.is_setting:
        now = "not known before it is up" if step.now is None else (step.now or "nothing")
        return f"set {step.path}: {now} -> {step.then}"
    if step.kind == "write":
        return f"write {step.path}, {step.size_bytes} bytes"
    about = words or step.path or step.said or ""
    within = "" if step.within_s is None else f", at most {format_duration(step.within_s)}"
    script = " with a script" if step.stdin else ""
    return f"{_KINDS[step.kind]} {about}".rstrip() + script + within


_KINDS = {
    "run": "run",
    "start": "start",
    "wait": "wait for who listens at",
    "agent": "start",
    "stop": "end what was started",
    "load": "drive a load to",
    "not_known": "from here on not known:",
    "make_folder": "make the folder",
    "remove": "remove",
    "sync": "write out to the disk of",
    "drop_caches": "drop the caches of the kernel",
    "end_process": "end a process of its own",
}


def _needed(needs: Needs) -> str:
    root = f", root ({needs.root})" if needs.root else ""
    told = [
        f"{what} {', '.join(names)}"
        for what, names in (("programs", needs.programs), ("accounts", needs.accounts))
        if names
    ]
    told += [f"packages of {dist}: {' '.join(names)}" for dist, names in needs.packages.items()]
    return f"{needs.use} on {needs.machine} needs {'; '.join(told) or 'nothing more'}{root}"


def _lacking(
    missing: Sequence[tuple[str, Shortfall]], unreachable: dict[str, str]
) -> Iterator[str]:
    for place, one in missing:
        yield f"missing, {place}: {one.cause}" + (f"; {one.remedy}" if one.remedy else "")
    for machine, why in unreachable.items():
        yield f"not looked at: {machine}: {why}"
    if not missing and not unreachable:
        yield "the machines lack nothing that can be looked for"
