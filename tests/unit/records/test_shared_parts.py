"""Records that share their equal parts are the records that were read."""

from __future__ import annotations

from pathlib import Path

from steelyard.records.archive import open_run
from steelyard.records.shared_parts import sharing

KEPT = Path(__file__).parents[2] / "records" / "v2"


def test_records_are_equal_to_those_that_were_read() -> None:
    run = open_run(KEPT)
    shared = list(sharing(run.each_record()))
    assert shared == run.records()
    assert [each.model_dump_json() for each in shared] == [
        each.model_dump_json() for each in run.records()
    ]


def test_what_is_equal_in_two_trials_is_kept_once() -> None:
    one, another = (each for each in sharing(open_run(KEPT).each_record()) if each.trial in {1, 2})
    of_same_system = [
        each for each in sharing(open_run(KEPT).each_record()) if each.cell == one.cell
    ]
    assert one.gates[0] is another.gates[0]
    assert all(each.cell is of_same_system[0].cell for each in of_same_system)


def test_a_copy_of_a_record_changes_no_other() -> None:
    one, another, *_ = sharing(open_run(KEPT).each_record())
    changed = one.model_copy(update={"facts": {}})
    assert changed.facts == {}
    assert one.model_fields_set == another.model_fields_set
    assert one.facts
