"""A study over time: its effect with the interval, beside what the machine itself did."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any
from urllib.parse import urlencode

from markupsafe import Markup
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from steelyard.errors import RecordError
from steelyard.history.chain import chain_of
from steelyard.history.point import RunPoint
from steelyard.history.series import Entry, History, history_of
from steelyard.records.results.chain import Chain
from steelyard.report.compare import NO_TEST
from steelyard.report.effects import interval, signed_effect
from steelyard.report.sentences.terminal.chain import LINK_HEAD, chain_lines, link_cells
from steelyard.report.vocabulary import said_word
from steelyard.web.drawing import Spot, interval_chart, words_of
from steelyard.web.index import Index, ListedRun
from steelyard.web.machines import host_text
from steelyard.web.making import Refused
from steelyard.web.pages.compare import change_text
from steelyard.web.pages.render import moment, refusal, run_address, shown
from steelyard.web.pages.run import AGAIN_S

USUAL_RUNS, MOST_RUNS = 60, 500
_WAIT_S = 0.5
_OPEN = {"undecided", "not_judged"}


async def history(request: Request) -> Response:
    """``?comparison=KEY&last=60``: the newest so many runs of one study."""
    index: Index = request.app.state.index
    study = request.path_params["study"]
    listing = await run_in_threadpool(index.listing)
    every = [run for run in listing.runs.values() if run.facts.study == study]
    if not every:
        return refusal(request, 404, f"There is no run of a study {study} here.")
    last = request.query_params.get("last", "")
    most = min(int(last), MOST_RUNS) if last.isascii() and last.isdigit() else USUAL_RUNS
    ended = [run for run in every if not run.running]
    runs = ended[: max(1, most)]
    found = await request.app.state.worker.points([run.path for run in runs], _WAIT_S)
    points = [each for each in found if isinstance(each, RunPoint)]
    chosen = history_of(points, request.query_params.get("comparison"))
    pending = sum(each is None for each in found)
    rows = [_row(entry, chosen) for entry in chosen.entries]
    chain = _chain(chosen) if not pending else "not all runs have been read yet"
    document = {
        "study": study,
        "chain": asdict(chain) if isinstance(chain, Chain) else None,
        "no_chain": None if isinstance(chain, Chain) else chain,
        "note": NO_TEST,
        "comparison": chosen.chosen,
        "comparisons": chosen.choices,
        "reference_kernel": chosen.reference_part,
        "runs_in_all": len(every),
        "being_read": pending,
        "not_read": _refused(runs, found),
        "runs": rows,
    }
    return shown(
        request,
        "history.html.j2",
        document,
        status=202 if pending and not points else 200,
        title=f"History of {study}",
        chosen=chosen,
        chart=_chart(chosen),
        chain=_chain_words(chain) if isinstance(chain, Chain) else None,
        again_s=AGAIN_S if pending else None,
        live=[run for run in every if run.running],
        rows=[(entry, row) for entry, row in zip(chosen.entries, rows, strict=True)][::-1],
    )


def _chain(chosen: History) -> Chain | str:
    """The runs shown as a chain of releases; or why they are none."""
    try:
        return chain_of([entry.run for entry in chosen.entries], chosen.chosen)
    except RecordError as error:
        return error.message


def _chain_words(chain: Chain) -> dict[str, Any]:
    rows = [link_cells(link) for link in chain.links][::-1]
    return {"head": LINK_HEAD, "rows": rows, "lines": chain_lines(chain)}


def _refused(runs: list[ListedRun], found: list[RunPoint | Refused | None]) -> list[dict[str, str]]:
    pairs = zip(runs, found, strict=True)
    return [{"run": run.key, "why": why.message} for run, why in pairs if isinstance(why, Refused)]


def _row(entry: Entry, chosen: History) -> dict[str, Any]:
    run, point = entry.run, entry.point
    reference = None
    if entry.reference_log is not None:
        reference = math.exp(entry.reference_log)
    return {
        "run": run.run,
        "created_unix_ns": run.created_unix_ns,
        "study_sha256": run.study_sha256,
        "variant": run.variant,
        "tool_version": run.tool_version,
        "host": None if run.host is None else run.host.model_dump(mode="json"),
        "tested": run.tested,
        "same_host": entry.same_host,
        "same_study": entry.same_study,
        "comparable": entry.is_comparable,
        "reference_kernel": run.reference_kernel,
        "reference_kernel_ratio": reference,
        "changes": [change_text(change) for change in entry.changes],
        "comparison": None if point is None else point.model_dump(mode="json"),
        "said": _said(entry),
        "host_text": host_text(run),
        "reference_text": None if entry.reference_log is None else
        signed_effect(entry.reference_log),
        "compare": _compare(chosen, run),
    }  # fmt: skip


def _said(entry: Entry) -> dict[str, str] | None:
    point = entry.point
    if point is None:
        return None
    word = said_word(point.word, point.estimate_log, point.response)
    if point.estimate_log is None:
        return {"word": word, "size": "–", "interval": "–"}
    ends = point.low_log, point.high_log
    return {
        "word": word,
        "size": signed_effect(point.estimate_log, beside=ends),
        "interval": interval(*ends, estimate_log=point.estimate_log, direction=None),
    }


def _compare(chosen: History, run: RunPoint) -> str | None:
    """The address that puts a run beside the newest one."""
    newest = chosen.entries[-1].run if chosen.entries else run
    if newest.run == run.run:
        return None
    return "/compare?" + urlencode({"a": run.run, "b": newest.run})


def _chart(chosen: History) -> Markup | None:
    """Runs stand side by side in the order of time: days between them say nothing of a change."""
    drawn = [entry for entry in chosen.entries if entry.point is not None]
    if not drawn:
        return None
    spots = [_spot(place, entry) for place, entry in enumerate(drawn)]
    second = None
    if chosen.reference_part is not None:
        part = chosen.reference_part.rpartition(".")[2]
        second = f"Reference kernel ({part}), against the first comparable run"
    title = f"Effect over time: {chosen.choices.get(chosen.chosen or '', '')}"
    return interval_chart(spots, title, "runs by time, oldest first", second)


def _spot(place: int, entry: Entry) -> Spot:
    run, point = entry.run, entry.point
    said = _said(entry)
    assert point is not None  # noqa: S101 - only those are drawn
    assert said is not None  # noqa: S101
    day = moment(run.created_unix_ns)
    other = None if entry.is_comparable else "not comparable"
    words = words_of((day, said["word"], said["size"], said["interval"], other,
                      *(change_text(change) for change in entry.changes)))  # fmt: skip
    return Spot(
        x=float(place),
        label=day[5:10],
        estimate_log=point.estimate_log,
        low_log=point.low_log,
        high_log=point.high_log,
        margin_log=point.margin_log,
        words=words,
        decided=point.word.value not in _OPEN,
        grey=not entry.is_comparable,
        second_log=entry.reference_log,
        link=run_address("runs", run.run) + "/",
    )
