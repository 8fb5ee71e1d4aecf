"""Every page of real records, and the same as JSON; nothing of a run becomes markup or a path."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
from tests.unit.several_machines import NAMES, machines_run
from tests.unit.web.conftest import KEY, LOOK, STUDY, Reader, add_run

from steelyard.records.archive import Run
from steelyard.report.formats.html import render
from steelyard.report.from_run import find

EVIL = "<script>alert(1)</script>"


def stored(folder: Path) -> dict[str, tuple[int, bytes]]:
    return {
        str(path.relative_to(folder)): (path.stat().st_mtime_ns, path.read_bytes())
        for path in sorted(folder.rglob("*")) if path.is_file()
    }  # fmt: skip


def test_the_list_is_a_page_and_a_document(reader: Reader, results: Path) -> None:
    (results / "junk").write_text("x")
    page, document = reader.ask("/runs"), reader.ask("/runs.json").json()
    assert page.status_code == 200
    assert document["runs"][0]["run"] == KEY
    assert document["skipped"][0]["place"] == "junk"
    assert KEY in page.text
    assert "junk" in page.text


def test_a_report_is_the_page_that_the_command_writes(reader: Reader, results: Path) -> None:
    before = stored(results)
    served = reader.ask_until_made(f"/runs/{KEY}/")
    written = render(
        find(Run(results / KEY)), records="records",
        beside={"csv": "report.csv", "json": "findings.json"},
    )  # fmt: skip
    strip = re.search(r'<p class="bar"><a href="/runs">.*</p>\n', served.text)
    assert strip is not None
    assert served.text.replace(strip.group(), "") == written
    policy = served.headers["content-security-policy"]
    assert "'self'" not in policy
    assert "http" not in policy
    assert reader.ask_until_made(f"/runs/{KEY}.json").json()["run"] == KEY
    assert reader.ask_until_made(f"/runs/{KEY}/findings.json").json()["run"] == KEY
    csv = reader.ask_until_made(f"/runs/{KEY}/report.csv")
    assert csv.headers["content-type"].startswith("text/csv")
    assert stored(results) == before, "something was written"


def test_two_runs_stand_in_one_plot_below_what_they_are_not(reader: Reader, results: Path) -> None:
    add_run(results, f"{STUDY}/again", created_unix_ns=2 * 10**18, tool_version="0.0.9")
    address = f"a={KEY}&b={STUDY}/again"
    document = reader.ask_until_made(f"/compare.json?{address}").json()
    assert [pair["comparison"] for pair in document["pairs"]]
    assert all(pair["a"]["word"] == pair["b"]["word"] for pair in document["pairs"])
    assert not any(pair["contradiction"] for pair in document["pairs"])
    page = reader.ask_until_made(f"/compare?{address}").text
    assert page.index("Not randomised against each other") < page.index("<table")
    assert page.count('<svg class="mark"') == 2 * len(document["pairs"]) + 1


def test_a_history_tells_hosts_and_study_files_apart(reader: Reader, results: Path) -> None:
    add_run(results, f"{STUDY}/later", created_unix_ns=2 * 10**18)
    document = reader.ask_until_made(f"/history/{STUDY}.json").json()
    while document["being_read"]:
        document = reader.ask(f"/history/{STUDY}.json").json()
    assert [run["comparable"] for run in document["runs"]] == [True, True]
    assert document["runs"][0]["comparison"]["margin_log"] > 0
    assert document["chain"] is None, "repeats of one comparison are not multiplied"
    page = reader.ask(f"/history/{STUDY}").text
    assert document["no_chain"] in page
    assert "since the first" not in page
    assert page.index("Not randomised against each other") < page.index("<svg")


def test_a_live_page_says_how_a_run_stands(reader: Reader, results: Path) -> None:
    document = reader.ask(f"/live/{KEY}.json").json()
    assert (document["phase"], document["ended"]) == ("ended", "budget_visits")
    assert document["trials_done"] == document["trials_planned"] == len(document["trials"])
    page = reader.ask(f"/live/{KEY}").text
    assert f'data-events="/live/{KEY}/events?comparison=1"' in page


@pytest.mark.parametrize(
    "path",
    ["/nothing", "/runs/a/b/", f"/runs/{STUDY}/..%2f/", "/history/none", "/live/a/b",
     "/live/a/b/events",
     "/compare?a=x/y&b=x/y", f"/runs/{KEY}/records/none", f"/runs/{KEY}/records/..%2f..%2fx",
     f"/runs/{KEY}/records/%2fetc%2fpasswd", f"/runs/{KEY}/records/a%00b",
     f"/runs/%2e%2e/{KEY.split('/')[1]}/", "/static/../app.py", "/runs/x.json"],
)  # fmt: skip
def test_what_is_not_there_is_said_and_is_no_defect(reader: Reader, path: str) -> None:
    answer = reader.ask(path)
    assert answer.status_code == 404
    assert "root:" not in answer.text


def test_files_of_a_run_are_text_or_kept_and_never_a_page(reader: Reader, results: Path) -> None:
    (results / KEY / "evil.html").write_text(EVIL)
    os.mkfifo(results / KEY / "pipe")
    text = reader.ask(f"/runs/{KEY}/records/study.yaml")
    assert text.headers["content-type"] == "text/plain; charset=utf-8"
    html = reader.ask(f"/runs/{KEY}/records/evil.html")
    assert html.headers["content-type"] == "application/octet-stream"
    assert html.headers["content-security-policy"].startswith("sandbox")
    assert reader.ask(f"/runs/{KEY}/records/pipe").status_code == 404
    folder = reader.ask(f"/runs/{KEY}/records/trials/0001-1/")
    assert "record.json" in folder.text


def test_a_name_that_is_markup_stays_text(reader: Reader, results: Path) -> None:
    name = "<script>alert(1)<"
    events = [
        {"event": "session_opened", "at_unix_ns": 1},
        {**LOOK, "comparisons": [{**LOOK["comparisons"][0], "other": EVIL}]},
    ]  # type: ignore[index]
    add_run(results, f"{name}/{name}", events=events, study=EVIL, variant=EVIL, tool_version=EVIL)
    (results / "<img src=x onerror=alert(1)>").write_text("x")
    for path in ("/runs", "/runs?q=<script>alert(1)</script>&study=<script>&sort=study", "/compare",
                 "/history/%3Cscript%3Ealert(1)%3C%2Fscript%3E"):  # fmt: skip
        text = reader.ask(path).text
        assert "<script>" not in text
        assert "<img" not in text


@pytest.mark.parametrize("damage", ["ledger", "record", "plan", "link"])
def test_a_damaged_run_is_named_and_the_others_are_shown(
    reader: Reader, results: Path, damage: str
) -> None:
    run = add_run(results, "damaged/run")
    file = {"ledger": "ledger.jsonl", "record": "trials/0001-1/record.json", "plan": "plan.json",
            "link": "trials/0001-1/service.json"}[damage]  # fmt: skip
    if damage == "link":
        (run / file).unlink()
        (run / file).symlink_to("/etc/passwd")
    else:
        (run / file).write_text('{"event": "session_opened"\n{}\n')
    answer = reader.ask_until_made("/runs/damaged/run/")
    assert answer.status_code == 422
    assert file.rpartition("/")[2] in answer.text
    assert reader.ask_until_made("/runs/damaged/run.json").status_code == 422
    assert reader.ask("/runs").status_code == 200


def test_what_was_made_is_kept_until_a_file_changes(reader: Reader, results: Path) -> None:
    first = reader.ask_until_made(f"/runs/{KEY}.json")
    assert first.status_code == 200
    with (results / KEY / "ledger.jsonl").open("a") as ledger:
        ledger.write(json.dumps({"event": "nonsense"}) + "\n")
    assert reader.ask_until_made(f"/runs/{KEY}.json").status_code == 422


def test_a_live_page_of_several_machines_leads_to_that_of_each(
    reader: Reader, results: Path
) -> None:
    run = machines_run(results)
    document = reader.ask(f"/live/{run.key}.json").json()
    assert [(each["machine"], each["status"]) for each in document["machines"]] == [
        (name, "budget_visits") for name in NAMES
    ]
    page = reader.ask(f"/live/{run.key}").text
    for each in document["machines"]:
        assert f'<a href="{each["address"]}">' in page
        of_one = reader.ask(f"{each['address']}.json").json()
        assert (of_one["run"], of_one["trials_done"]) == (
            each["address"].removeprefix("/live/"),
            16,
        )
        assert f'data-events="{each["address"]}/events?' in reader.ask(each["address"]).text
        assert reader.ask(f"{each['address']}/events").text.count("event: state") == 1
    for path in ("machines/none.example", "machines/..%2f", "machines/none.example/events"):
        assert reader.ask(f"/live/{run.key}/{path}").status_code == 404
    assert reader.ask(f"/live/{KEY}/machines/{NAMES[0]}").status_code == 404


def test_a_machine_outside_of_its_run_is_not_shown(reader: Reader, results: Path) -> None:
    run = machines_run(results)
    (run.path / "SHA256SUMS").unlink()
    (run.path / "machines.json").write_text(json.dumps({"machines": [f"../../../{KEY}"]}))
    assert "machines/" not in reader.ask(f"/live/{run.key}").text


def test_what_was_made_of_several_machines_is_kept_until_one_of_them_is_measured_again(
    reader: Reader, results: Path
) -> None:
    run = machines_run(results)
    assert reader.ask_until_made(f"/runs/{run.key}.json").status_code == 200
    with run.machines()[NAMES[2]].ledger_path.open("a") as ledger:
        ledger.write(json.dumps({"event": "nonsense"}) + "\n")
    assert reader.ask_until_made(f"/runs/{run.key}.json").status_code == 422
