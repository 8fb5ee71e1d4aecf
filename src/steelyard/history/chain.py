"""Runs of a study as a chain of ratios, each measured in one randomised run.

A run whose baseline is the newest release measures the next one. One with the same two releases
again confirms it. One whose baseline lies further back measures an anchor again. Releases are known
by digests and versions of what was tested; where those tell nothing apart, by their systems' names.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from steelyard.errors import RecordError
from steelyard.history.point import ComparisonPoint, RunPoint
from steelyard.inference.online_rate import OnlineRate, runs_needed
from steelyard.inference.sequential import VerdictWord
from steelyard.records.results.chain import Chain, Link, LinkKind, Standing, Total

RATE = 0.05
_DIGEST = re.compile(r"\b([0-9a-f]{12})[0-9a-f]{52}\b")
_HINT = "give the runs of one study in the order of their releases, without gaps"
_REPEATS_HINT = (
    "these are repeats of one comparison: `steelyard compare` holds two of them against each "
    "other; in a chain the baseline of each run is what the run before it measured"
)

Release = tuple[tuple[str, tuple[str, ...]], ...]
"""Digests and versions of a system; empty where none are known."""


def chain_of(runs: Sequence[RunPoint], chosen: str | None = None, rate: float = RATE) -> Chain:
    """The chain of these runs in this order; ``chosen`` is the key of the comparison.

    Raises:
        RecordError: the runs are not of one study, comparison and chain; the first is named.
    """
    if not runs:
        raise _refused("there is no run", "name the folders of runs, or that of a study's runs")
    key = chosen or next((each.key for each in runs[0].comparisons), None)
    building = GrowingChain(OnlineRate(rate))
    _refuse_twice(runs)
    points: list[ComparisonPoint] = []
    for run in runs:
        points.append(_point(run, runs[0], key, points[-1] if points else None))
    for run, point in zip(runs, points, strict=True):
        building.add(run, point)
    return building.chain(runs[0].study, points[-1])


def _refuse_twice(runs: Sequence[RunPoint]) -> None:
    """A run and its copy are one randomised run: they confirm nothing of each other."""
    known: dict[tuple[object, ...], str] = {}
    for run in runs:
        identity = (run.created_unix_ns, run.study_sha256, run.host)
        if identity in known:
            also = "" if known[identity] == run.run else f", once as {known[identity]}"
            raise _refused(f"{run.run} was given twice{also}", "name each run once")
        known[identity] = run.run


def _point(
    run: RunPoint, first: RunPoint, key: str | None, before: ComparisonPoint | None
) -> ComparisonPoint:
    """The comparison of a run that may stand in a chain: that of the key, or the one that goes on
    from the run before, whose systems may have names of their own in each run.
    """
    if run.study != first.study:
        raise _refused(f"{run.run} is a run of {run.study}, {first.run} one of {first.study}")
    if not run.is_randomised:
        raise _refused(
            f"{run.run} was not randomised: its order is not known to be drawn",
            "what was imported is not judged in a chain: leave it out",
        )
    if run.stop in {"error", "open"}:
        raise _refused(
            f"{run.run} is not finished",
            "wait for it, end it with `steelyard resume`, or leave it out",
        )
    point = None if key is None else run.comparison(key)
    if point is None and before is not None:
        point = next((each for each in run.comparisons if _goes_on(each, before)), None)
    if point is None:
        known = ", ".join(f"`{each.key}`" for each in run.comparisons) or "none"
        raise _refused(
            f"{run.run} has no comparison `{key}`; it has {known}",
            "choose with --comparison one that all runs have",
        )
    return point


def _goes_on(point: ComparisonPoint, before: ComparisonPoint) -> bool:
    one, other = ((each.workload, each.response.name, each.where) for each in (point, before))
    return one == other and point.baseline == before.other


def _refused(message: str, hint: str = _HINT) -> RecordError:
    return RecordError(message, hint=hint, slug="runs-are-no-chain")


@dataclass
class _Open:
    """A link as far as its runs go; ``at`` and ``against`` are places of releases.

    ``place`` is that in the stream, ``None`` of a test that is not made.
    """

    kind: LinkKind
    against: int
    at: int
    verified: bool
    level: float | None
    runs: list[str] = field(default_factory=list)
    points: list[ComparisonPoint] = field(default_factory=list)

    @property
    def counted(self) -> list[ComparisonPoint]:
        """The runs that the answer goes by: up to the first that does not say slower."""
        found: list[ComparisonPoint] = []
        for point in self.points:
            if found and (not _slower(found[-1]) or len(found) >= self._needed(found)):
                break
            found.append(point)
        return found

    def _needed(self, of: Sequence[ComparisonPoint]) -> int:
        level = self.level or RATE
        return runs_needed(level, [point.side for point in of], of[-1].side)

    @property
    def needed(self) -> int:
        return self._needed(self.counted)

    @property
    def standing(self) -> Standing:
        if self.level is None:
            return Standing.KNOWN
        counted = self.counted
        if not all(map(_slower, counted)):
            return Standing.NOT_NAMED
        return Standing.NAMED if len(counted) >= self._needed(counted) else Standing.OPEN

    @property
    def chance(self) -> float:
        counted = self.counted
        return math.prod(p.side for p in counted) if all(map(_slower, counted)) else 1.0


def _slower(point: ComparisonPoint) -> bool:
    return VerdictWord.SLOWER in point.words


@dataclass
class GrowingChain:
    """A chain run by run. ``releases`` and ``names`` belong together; links lie between two.

    ``named_up_to`` is the place of the latest release that was named.
    """

    rate: OnlineRate
    releases: list[Release] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    links: list[_Open] = field(default_factory=list)
    named_up_to: int = -1

    def add(self, run: RunPoint, point: ComparisonPoint) -> None:
        """One more run: of a link that there is, or of a new link or anchor."""
        before, after = (_release(run, name) for name in (point.baseline, point.other))
        if not self.releases:
            self.releases.append(before)
            known = _name(before) if _told_apart(before, after) else ""
            self.names.append(known or f"{point.baseline} of {run.run}")
        link = self._again(before, after) or self._begun(run, point, before, after)
        was = link.standing if link.points else None
        link.runs.append(run.run)
        link.points.append(point)
        if was is not Standing.NAMED and link.standing is Standing.NAMED:
            self.named_up_to = max(self.named_up_to, link.at)
            if link is not self.links[-1]:  # found by a test that others were made after
                self.rate.found.append(self.rate.tests)

    @property
    def standing(self) -> Standing:
        """Of the newest link."""
        return self.links[-1].standing

    def _again(self, before: Release, after: Release) -> _Open | None:
        """The link of the same two releases: the newest, or an earlier one that none begins at."""
        if not _told_apart(before, after) or not self.links:
            return None
        asked = self.links[-1:] if before == self.releases[-1] else self.links[::-1]
        pairs = ((self.releases[each.against], self.releases[each.at], each) for each in asked)
        return next((link for old, new, link in pairs if (old, new) == (before, after)), None)

    def _begun(
        self, run: RunPoint, point: ComparisonPoint, before: Release, after: Release
    ) -> _Open:
        """A link or an anchor; the one before it is answered now, for the level of this one."""
        self._answer()
        newest, told_apart = len(self.releases) - 1, _told_apart(before, after)
        if told_apart and before != self.releases[newest] and self.releases[newest]:
            begun = self._anchor(run, before, after, newest)
        else:
            self._refuse_gap(run, point, before, told_apart=told_apart)
            verified = told_apart and before == self.releases[newest]
            self.releases.append(after)
            known = _name(after) if told_apart else ""
            self.names.append(known or f"{point.other} of {run.run}")
            begun = _Open(LinkKind.LINK, newest, newest + 1, verified, self.rate.level)
        self.links.append(begun)
        return begun

    def _refuse_gap(
        self, run: RunPoint, point: ComparisonPoint, before: Release, *, told_apart: bool
    ) -> None:
        """The baseline must be the newest release: by its digests where digests tell releases of
        this chain apart, else by the name of its system.
        """
        known = self.releases[-1]
        if before and known and before != known:
            raise _gap(run, before, known)
        if not self.links or (before and known and (told_apart or self._tells_apart)):
            return
        last = self.links[-1].points[-1]
        if point.baseline != last.other:
            raise _repeated(run, point, self.links[-1])

    @property
    def _tells_apart(self) -> bool:
        """Whether digests or versions tell apart any two releases that were measured."""
        return any(_told_apart(self.releases[a.against], self.releases[a.at]) for a in self.links)

    def _anchor(self, run: RunPoint, before: Release, after: Release, newest: int) -> _Open:
        if after != self.releases[newest] or before not in self.releases[:-1]:
            raise _gap(run, before, self.releases[newest])
        at = max(i for i, release in enumerate(self.releases[:-1]) if release == before)
        level = None if self.named_up_to > at else self.rate.level
        return _Open(LinkKind.ANCHOR, at, newest, verified=True, level=level)

    def _answer(self) -> None:
        if self.links and self.links[-1].level is not None:
            self.rate.answered(found=self.links[-1].standing is Standing.NAMED)

    def chain(self, study: str, point: ComparisonPoint) -> Chain:
        """All of it; nothing can be added later."""
        self._answer()
        anchors = [each.at for each in self.links if each.kind is LinkKind.ANCHOR]
        totals = _totals(self.links)
        level = self.rate.level
        return Chain(
            study=study,
            comparison=point.key,
            title=point.title,
            response=point.response.label,
            rate=self.rate.rate,
            links=tuple(
                replace(self._link(each), total=totals.get(each.at)) for each in self.links
            ),
            next_level=level,
            next_runs=runs_needed(level, [], point.side),
            since_anchor=len(self.releases) - 1 - max(anchors, default=0),
        )

    def _link(self, link: _Open) -> Link:
        newest = link.points[-1]
        return Link(
            kind=link.kind,
            release=self.names[link.at],
            against=self.names[link.against],
            runs=tuple(link.runs),
            words=tuple(point.word.value for point in link.points),
            level=link.level,
            chance=link.chance,
            runs_needed=link.needed,
            standing=link.standing,
            estimate_log=newest.estimate_log,
            low_log=newest.whole_low_log,
            high_log=newest.whole_high_log,
            verified=link.verified,
        )


def _gap(run: RunPoint, before: Release, newest: Release) -> RecordError:
    return _refused(
        f"the baseline of {run.run} ({_name(before)}) is not the release before it "
        f"({_name(newest) or 'unknown'}), and its two releases are none of the chain: a run is "
        "missing, or stands in another place"
    )


def _repeated(run: RunPoint, point: ComparisonPoint, link: _Open) -> RecordError:
    last, earlier = link.points[-1], link.runs[-1]
    if {point.baseline, point.other} != {last.baseline, last.other}:
        return _refused(
            f"the baseline of {run.run} is {point.baseline}, {earlier} measured {last.other}, and "
            "no digest says that they are the same"
        )
    return _refused(
        f"{run.run} and {earlier} both compare {point.other} with {point.baseline}, and no digest "
        "says that one goes on from the other, so their ratios are not multiplied",
        _REPEATS_HINT,
    )


def _told_apart(before: Release, after: Release) -> bool:
    return bool(before) and bool(after) and before != after


def _release(run: RunPoint, system: str) -> Release:
    return tuple(sorted(run.tested.get(system, {}).items()))


def _name(release: Release) -> str:
    """Digests by their first digits; versions where there are none."""
    texts = [text for _, values in release for text in values]
    digests = [found[1] for text in texts if (found := _DIGEST.search(text))]
    return ", ".join(dict.fromkeys(digests or texts))


def _totals(links: Sequence[_Open]) -> dict[int, Total]:
    """Each release over the first one, over as few measured ratios as there are.

    Interval: half-widths in quadrature, each side by itself (Zou and Donner, "Construction of
    confidence limits about effect measures: a general approach", Statistics in Medicine 27, 2008).
    """
    found = {0: Total(0.0, 0.0, 0.0, 0)}
    for link in links:
        before, own = found.get(link.against), link.points[-1]
        if before is None or own.estimate_log is None:
            continue
        known = found.get(link.at)
        if known is not None and known.ratios <= before.ratios + 1 and link.kind is LinkKind.LINK:
            continue
        found[link.at] = Total(
            before.estimate_log + own.estimate_log,
            _joined(before.estimate_log, before.low_log, own.estimate_log, own.whole_low_log, -1),
            _joined(before.estimate_log, before.high_log, own.estimate_log, own.whole_high_log, 1),
            before.ratios + 1,
        )
    return found


def _joined(
    one: float, one_end: float | None, other: float, other_end: float | None, sign: int
) -> float | None:
    if one_end is None or other_end is None:
        return None
    return one + other + sign * math.hypot(one_end - one, other_end - other)
