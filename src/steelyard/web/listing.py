"""What is asked of the list of runs, as its address says it: search, filter, order, page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from steelyard.web.index import ListedRun

PAGE_ROWS = 50
MOST_ROWS = 500
_MOST_SEARCH = 200
_SortKey = Callable[[ListedRun], tuple[object, ...]]
SORTS: dict[str, tuple[str, _SortKey]] = {
    "time": ("Begun", lambda run: (run.facts.created_unix_ns,)),
    "study": ("Study", lambda run: (run.facts.study, run.facts.created_unix_ns)),
    "status": ("Status", lambda run: (run.status, run.facts.created_unix_ns)),
    "visits": ("Visits", lambda run: (run.state.visits or 0,)),
    "effect": ("Change", lambda run: (_size(run), run.facts.created_unix_ns)),
}


def _size(run: ListedRun) -> float:
    lead = run.state.lead
    return 0.0 if lead is None or lead.estimate_log is None else lead.estimate_log


@dataclass(frozen=True)
class Asked:
    """``page`` counts from 1. What an address asks for and is not there is what it leaves out."""

    search: str = ""
    study: str = ""
    status: str = ""
    sort: str = "time"
    descending: bool = True
    page: int = 1
    rows: int = PAGE_ROWS

    @classmethod
    def of(cls, query: Mapping[str, str]) -> Asked:
        """From the query of an address."""
        sort = query.get("sort", "time")
        return cls(
            search=query.get("q", "")[:_MOST_SEARCH].strip(),
            study=query.get("study", ""),
            status=query.get("status", ""),
            sort=sort if sort in SORTS else "time",
            descending=query.get("order", "down") != "up",
            page=_count(query.get("page"), 1, 1_000_000),
            rows=_count(query.get("rows"), PAGE_ROWS, MOST_ROWS),
        )

    def query(self, **changes: object) -> str:
        """The address that asks for this, with changes; what is usual is left out."""
        asked = replace(self, **changes)  # type: ignore[arg-type]
        usual = Asked()
        parts = {
            "q": asked.search, "study": asked.study, "status": asked.status, "sort": asked.sort,
            "order": "down" if asked.descending else "up", "page": asked.page, "rows": asked.rows,
        }  # fmt: skip
        left_out = {"q": "", "study": "", "status": "", "sort": usual.sort, "order": "down",
                    "page": 1, "rows": PAGE_ROWS}  # fmt: skip
        return urlencode({name: value for name, value in parts.items() if value != left_out[name]})


@dataclass(frozen=True)
class Selected:
    """The rows of one page of the list, and what there is to filter by."""

    rows: tuple[ListedRun, ...]
    found: int
    page: int
    pages: int
    studies: dict[str, int]
    statuses: dict[str, int]


def select(runs: Iterable[ListedRun], asked: Asked) -> Selected:
    """The rows that are asked for; a page beyond the last one is the last one."""
    every = list(runs)
    words = asked.search.lower().split()
    found = [
        run
        for run in every
        if (not asked.study or run.facts.study == asked.study)
        and (not asked.status or run.status == asked.status)
        and (not words or all(word in _text(run) for word in words))
    ]
    found.sort(key=SORTS[asked.sort][1], reverse=asked.descending)
    pages = max(1, -(-len(found) // asked.rows))
    page = min(asked.page, pages)
    rows = found[(page - 1) * asked.rows : page * asked.rows]
    studies = Counter(run.facts.study for run in every)
    statuses = Counter(run.status for run in every)
    return Selected(
        tuple(rows), len(found), page, pages, dict(sorted(studies.items())),
        dict(sorted(statuses.items())),
    )  # fmt: skip


def _text(run: ListedRun) -> str:
    facts = run.facts
    parts = (run.key, facts.variant, facts.tool_version, facts.study_sha256, run.status)
    return " ".join(filter(None, parts)).lower()


def _count(text: str | None, usual: int, most: int) -> int:
    plain = text is not None and text.isascii() and text.isdigit() and len(text) < 9
    return min(max(int(text or 0), 1), most) if plain else usual
