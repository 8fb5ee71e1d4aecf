"""Whether the clean-up of the machines is verified after a run."""

from __future__ import annotations

from steelyard.judge.kinds.caveats import (
    ChangedByOthers,
    CleanupIncomplete,
    CleanupNotVerified,
    CleanupVerified,
)
from steelyard.judge.validity.environment import cleanup_caveats
from steelyard.records.events import (
    EnvironmentCompared,
    EnvironmentDifference,
    SessionOpened,
    Undone,
    UndoPlanned,
)
from steelyard.report import notes
from steelyard.study.labels import Labels


def mounts(names: tuple[str, ...]) -> tuple[EnvironmentDifference, ...]:
    return tuple(
        EnvironmentDifference(machine="local", kind="mount", name=name, before=None, after="/dev/x")
        for name in names
    )


def compared(
    *names: str,
    others: tuple[str, ...] = (),
    not_listed: dict[str, str] | None = None,
    forced: tuple[str, ...] = (),
) -> EnvironmentCompared:
    return EnvironmentCompared(
        machines=() if not_listed or forced else ("local",),
        count=len(names),
        differences=mounts(names),
        others=mounts(others),
        not_listed=not_listed or {},
        forced_stop=forced,
    )


def test_a_run_that_was_not_compared_claims_nothing() -> None:
    assert list(cleanup_caveats([SessionOpened()])) == []


def test_the_clean_up_of_machines_that_are_the_same_is_verified() -> None:
    assert list(cleanup_caveats([compared()])) == [CleanupVerified(machines=("local",))]


def test_differences_are_counted_and_the_first_named() -> None:
    (found,) = cleanup_caveats([compared("/a", "/b"), compared("/c", "/d")])
    assert isinstance(found, CleanupIncomplete)
    assert (found.count, [each.name for each in found.differences]) == (4, ["/a", "/b", "/c"])
    assert notes.text(found, Labels()).endswith(
        "local: mount /c (/dev/x) is new; and 1 more, see the ledger"
    )


def test_what_others_changed_is_listed_and_is_no_fault_of_the_clean_up() -> None:
    done, others = cleanup_caveats([compared(others=("/a", "/b", "/c", "/d"))])
    assert done == CleanupVerified(machines=("local",), by_others=4)
    assert others == ChangedByOthers(count=4, differences=mounts(("/a", "/b", "/c")))
    assert notes.text(others, Labels()).endswith(
        "local: mount /c (/dev/x) is new; and 1 more, see the ledger"
    )


def test_what_is_left_and_what_others_changed_are_kept_apart() -> None:
    left, others = cleanup_caveats([planned(1), compared("/a", others=("/b",))])
    assert isinstance(left, CleanupIncomplete)
    assert [each.name for each in left.differences] == ["/a"]
    assert isinstance(others, ChangedByOthers)
    assert [each.name for each in others.differences] == ["/b"]


def planned(undo: int, host: str = "local") -> UndoPlanned:
    return UndoPlanned(undo=undo, host=host, inverse={"kind": "remove_tree"})


def test_a_change_that_was_not_undone_is_distinguished_from_what_others_changed() -> None:
    own = [planned(1), planned(2), planned(3, "inside:vm"), Undone(undo=1), compared("/a")]
    (found,) = cleanup_caveats(own)
    assert isinstance(found, CleanupIncomplete)
    assert found.pending == 1
    (found,) = cleanup_caveats([*own, Undone(undo=2)])
    assert isinstance(found, CleanupIncomplete)
    assert found.pending == 0


def test_a_change_that_was_not_undone_is_said_where_no_machine_differs() -> None:
    for events in ([planned(1), compared()], [planned(1)], [planned(1), compared(others=("/b",))]):
        left, *_ = cleanup_caveats(events)
        assert left == CleanupIncomplete(count=0, pending=1, differences=())
        assert "difference" not in notes.text(left, Labels())


def test_the_clean_up_of_a_machine_that_could_not_be_listed_is_not_verified() -> None:
    (found,) = cleanup_caveats([compared(not_listed={"ssh://far": "unreachable"})])
    assert found == CleanupNotVerified(machine="ssh://far", error="unreachable")


def test_the_clean_up_after_a_forced_stop_is_not_verified() -> None:
    (found,) = cleanup_caveats([compared(forced=("local",))])
    assert found == CleanupNotVerified(machine="local", error=None)
