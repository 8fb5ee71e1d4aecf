"""Runs of several results folders as tables of DuckDB, in bounded memory."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from steelyard.errors import AnalysisError, HostError, SteelyardError
from steelyard.query.tables import OF_RUN, TABLES, Row, Table
from steelyard.records.archive import Run, runs_below
from steelyard.records.files.parquet import polars

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

pl = polars("query")
MEMORY = "512MiB"
_ROWS_AT_A_TIME = 100_000
_SKIPPED = "skipped.parquet"

Skipped = Callable[[Run, SteelyardError], object]
"""Called with a run that cannot be read, and why; the others are asked without it."""


class Answer:
    """Columns and rows of a query; rows come a thousand at a time."""

    _FETCHED = 1000

    def __init__(self, connection: DuckDBPyConnection) -> None:
        self._connection = connection
        self.columns = tuple(column[0] for column in connection.description or ())

    def rows(self) -> Iterator[Row]:
        """Once.

        Raises:
            AnalysisError: the query failed at a row, or needs more memory than it may have.
        """
        import duckdb  # noqa: PLC0415 - of the extra

        try:
            while found := self._connection.fetchmany(self._FETCHED):
                yield from found
        except duckdb.Error as error:
            raise _failed(error) from error


@contextmanager
def asked(
    sql: str, origins: Mapping[str, Path], skipped: Skipped, memory: str = MEMORY
) -> Iterator[Answer]:
    """The answer to one ``SELECT`` over the runs of results folders by the names of their origins.

    Only the tables that it names are filled, in a temporary folder; the query can read and write
    nothing else.

    Raises:
        HostError: DuckDB is not installed.
        AnalysisError: it is no query, or fails.
    """
    try:
        import duckdb  # noqa: PLC0415 - of the extra
    except ImportError as error:
        raise HostError(
            "`steelyard query` needs DuckDB, which is not installed",
            hint="pip install 'steelyard[query]'",
            slug="no-duckdb",
        ) from error
    with TemporaryDirectory(prefix="steelyard-query-") as folder:
        try:
            names = _tables_of(sql)
            _fill(Path(folder), names, origins, skipped)
            with duckdb.connect(":memory:") as connection:
                _confine(connection, folder, memory)
                for name in names:
                    connection.execute(_view(name, folder))
                yield Answer(connection.execute(sql))
        except duckdb.Error as error:
            raise _failed(error) from error


def _tables_of(sql: str) -> list[str]:
    """Those whose names are words of the query: one more than it needs costs time alone."""
    import duckdb  # noqa: PLC0415 - of the extra

    statements = duckdb.extract_statements(sql)
    if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
        raise AnalysisError(
            "this is not one SELECT",
            hint="a query reads: one SELECT, or WITH ... SELECT",
            slug="query-failed",
        )
    words = set(re.findall(r"\w+", sql.lower()))
    return [name for name in TABLES if name in words]


def _confine(connection: DuckDBPyConnection, folder: str, memory: str) -> None:
    for setting, value in (
        ("memory_limit", f"'{memory}'"),
        ("temp_directory", f"'{folder}'"),
        ("allowed_directories", f"['{folder}']"),
        ("autoinstall_known_extensions", "false"),
        ("autoload_known_extensions", "false"),
        ("enable_external_access", "false"),
        ("lock_configuration", "true"),
    ):
        connection.execute(f"SET {setting} = {value}")


def _view(name: str, folder: str) -> str:
    """A table without the rows of runs that were found to be damaged on the way."""
    of_run = ", ".join(OF_RUN)
    return (
        f"CREATE VIEW {name} AS SELECT * FROM read_parquet('{folder}/{name}-*') "  # noqa: S608
        f"WHERE ({of_run}) NOT IN (SELECT ({of_run}) FROM read_parquet('{folder}/{_SKIPPED}'))"
    )


def _fill(
    folder: Path, names: Iterable[str], origins: Mapping[str, Path], skipped: Skipped
) -> None:
    """Files of each table, of so many rows each, and the list of runs that were skipped."""
    refused: dict[Row, None] = {}

    def skip(run: Run, own: Row, error: SteelyardError) -> None:
        if own not in refused:
            refused[own] = None
            skipped(run, error)

    for name in names:
        rows = _rows(TABLES[name], origins, skip)
        for number, part in enumerate(_parts(rows)):
            frame = pl.DataFrame(part, schema=dict(TABLES[name].columns), orient="row")
            frame.write_parquet(folder / f"{name}-{number:06d}.parquet")
    frame = pl.DataFrame(list(refused), schema=dict(OF_RUN), orient="row")
    frame.write_parquet(folder / _SKIPPED)


def _parts(rows: Iterator[Row]) -> Iterator[list[Row]]:
    """At least one, so that there is a table where there are no rows."""
    part = list(islice(rows, _ROWS_AT_A_TIME))
    yield part
    while part := list(islice(rows, _ROWS_AT_A_TIME)):
        yield part


def _rows(
    table: Table,
    origins: Mapping[str, Path],
    skip: Callable[[Run, Row, SteelyardError], object],
) -> Iterator[Row]:
    for origin, results in origins.items():
        for found in runs_below(results):
            own = (origin, found.path.parent.name, found.name)
            try:
                for run in found.parts():
                    study, _, name = run.key.partition("/")
                    own = (origin, study, name)
                    run.facts()
                    run.refuse_changed_files()
                    for row in table.rows(run):
                        yield (*own, *row)
            except SteelyardError as error:
                skip(found, own, error)


def _failed(error: Any) -> AnalysisError:
    return AnalysisError(
        f"the query failed: {str(error).strip()}",
        hint="docs/reference/query.md lists tables and columns; --memory allows more memory",
        slug="query-failed",
    )
