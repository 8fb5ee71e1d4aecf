"""What the report says of the machines after a run."""

from __future__ import annotations

from steelyard.judge.environment import left_as_found
from steelyard.records.events import EnvironmentCompared, EnvironmentDifference, SessionOpened


def compared(
    *names: str, not_listed: dict[str, str] | None = None, forced: tuple[str, ...] = ()
) -> EnvironmentCompared:
    return EnvironmentCompared(
        machines=() if not_listed or forced else ("local",),
        count=len(names),
        differences=tuple(
            EnvironmentDifference(
                machine="local", kind="mount", name=name, before=None, after="/dev/x"
            )
            for name in names
        ),
        not_listed=not_listed or {},
        forced_stop=forced,
    )


def test_a_run_that_was_not_compared_claims_nothing() -> None:
    assert list(left_as_found([SessionOpened()])) == []


def test_machines_that_are_the_same_were_left_as_found() -> None:
    (said,) = left_as_found([compared()])
    assert said.startswith("Left as found: ")
    assert "of local were the same" in said


def test_what_is_otherwise_is_named_and_counted() -> None:
    (said,) = left_as_found([compared("/a", "/b"), compared("/c", "/d")])
    assert said.startswith("Not left as found: 4 things are otherwise")
    assert "local: mount /c: was not there, is '/dev/x'; and 1 more, see the ledger." in said


def test_a_machine_that_could_not_be_listed_is_not_called_clean() -> None:
    (said,) = left_as_found([compared(not_listed={"ssh://far": "unreachable"})])
    assert said == "Whether ssh://far was left as found is not known: unreachable."


def test_a_run_that_was_forced_to_stop_is_not_called_clean() -> None:
    (said,) = left_as_found([compared(forced=("local",))])
    assert said.startswith("Whether local was left as found is not known")
