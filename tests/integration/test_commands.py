"""Every command does its first real job, with the exit code that is documented."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path

import jsonschema
import pytest

from steelyard.plan.model import Plan
from steelyard.records.archive import open_run
from steelyard.records.stream import AttemptMeasured, RunJudged, RunPlanned, stream_adapter
from steelyard.traces.bank import read_bank
from tests.integration.conftest import LONG_STUDY, LONGEST_S, Finished, Steelyard

SCHEMAS = Path(__file__).parents[2] / "schemas"


def test_plan_shows_everything_and_touches_nothing(steelyard: Steelyard) -> None:
    done = steelyard.run("plan", ".", "--seed", "7")
    assert done.returncode == 0
    assert "two with one (baseline)" in done.stdout
    assert "seed" in done.stdout
    assert [path.name for path in steelyard.folder.iterdir()] == ["study.yaml"]


def test_a_timed_plan_measures_each_system_and_leaves_no_records(steelyard: Steelyard) -> None:
    done = steelyard.run("plan", ".", "--timed", "--json", "--seed", "7")
    assert done.returncode == 0, done.stderr
    forecast = Plan.model_validate_json(done.stdout).forecast
    assert set(forecast.timed_trial_s) == {"one", "two"}
    assert min(forecast.timed_trial_s.values()) > 0.12  # warm-up and window
    assert not (steelyard.folder / "results" / "tiny").exists()


def test_the_same_seed_gives_the_same_plan_as_json(steelyard: Steelyard) -> None:
    first, again, other = (
        Plan.model_validate_json(steelyard.run("plan", ".", "--json", "--seed", seed).stdout)
        for seed in ("7", "7", "8")
    )
    assert first == again
    assert first.visits != other.visits


def test_init_writes_a_study_that_plans(steelyard: Steelyard) -> None:
    assert steelyard.run("init", "mine").returncode == 0
    assert steelyard.run("plan", "mine").returncode == 0
    again = steelyard.run("init", "mine")
    assert again.returncode == 3
    assert "init never overwrites" in again.stderr


def test_doctor_prints_every_check_as_json(steelyard: Steelyard) -> None:
    checks = json.loads(steelyard.run("doctor", "--json").stdout)
    assert {"processors", "load", "steal"} <= {check["name"] for check in checks}
    fields = {"machine", "name", "verdict", "value", "reason", "remedy", "fix"}
    assert fields == set(checks[0])


def test_doctor_looks_at_this_machine(steelyard: Steelyard) -> None:
    done = steelyard.run("doctor")
    assert done.returncode == 0, done.stdout
    assert "disk of the results" in done.stdout
    assert not (steelyard.folder / "results").exists()


@pytest.mark.extended
def test_doctor_says_what_a_margin_would_cost_here(steelyard: Steelyard) -> None:
    done = steelyard.run("doctor", "--margin", "10%")
    assert done.returncode == 0, done.stderr
    assert "this machine can resolve 10 % of work of the processor in" in done.stdout


SERVER = """
import http.server, pathlib, sys
page = pathlib.Path(__file__).with_name("page").read_bytes()
class Page(http.server.BaseHTTPRequestHandler):
    protocol_version, wbufsize = "HTTP/1.1", -1
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", str(len(page)))
        self.end_headers()
        self.wfile.write(page)
    log_message = lambda *_: None
http.server.ThreadingHTTPServer((sys.argv[1], int(sys.argv[2])), Page).serve_forever()
"""
BESIDE = """
summary: A server whose program lies beside the study.
speaks: [http]
requires: [python3]
settings: {port: {kind: port, meaning: "port"}}
command: [python3, "{study}/server.py", "{address}", "{port}"]
listeners: {http: port}
ready: listening
"""


@pytest.mark.extended
def test_a_service_finds_files_beside_the_study_wherever_the_run_was_started(
    steelyard: Steelyard,
) -> None:
    study = steelyard.folder / "study.yaml"
    lines = study.read_text(encoding="utf-8")
    beside = steelyard.folder / "beside"
    beside.mkdir()
    lines = lines.replace("sink-smtp, store: maildir, sync: none", "./mine.yaml")
    lines = lines.replace("{use: smtp, body: 1 KiB, recipients: 3}", "{use: http}")
    files = {"study.yaml": lines, "mine.yaml": BESIDE, "server.py": SERVER, "page": "hello"}
    for name, text in files.items():
        (beside / name).write_text(text, encoding="utf-8")
    done = steelyard.run("run", "beside")
    assert done.returncode == 0, done.stderr


def test_a_verdict_that_may_not_be_fails_the_job(steelyard: Steelyard) -> None:
    done = steelyard.run("run", ".", "--json", *FAIL_ON_ANY)
    assert done.returncode == 5, done.stderr
    events = [stream_adapter().validate_json(line) for line in done.stdout.splitlines()]
    last = events[-1]
    assert isinstance(last, RunJudged)
    assert (last.exit_code, last.findings["study"]) == (5, "tiny")
    run = open_run(steelyard.folder / "results" / "tiny")
    of_the_stream = (RunPlanned, AttemptMeasured, RunJudged)
    assert [e for e in events if not isinstance(e, of_the_stream)] == run.events()
    measured = [event for event in events if isinstance(event, AttemptMeasured)]
    assert [(e.trial, e.attempt) for e in measured] == [(r.trial, r.attempt) for r in run.records()]
    assert [e.value for e in measured] == [r.value("throughput") for r in run.records()]
    other = steelyard.run("compare", "results/tiny", "results/tiny")
    assert other.returncode == 0
    assert "no test is made between them" in other.stdout


def test_the_authors_note_goes_into_its_section_and_may_be_edited_in_the_run(
    steelyard: Steelyard,
) -> None:
    study = steelyard.folder / "study.yaml"
    study.write_text(LONG_STUDY, encoding="utf-8")
    cut = "report: {sections_by: system, means_by: load.users, notes: words}\n"
    study.write_text(study.read_text() + cut)
    (steelyard.folder / "words").mkdir()
    (steelyard.folder / "words" / "two.md").write_text("As seen in spring.\n")
    done = steelyard.run("run", ".", "--format", "html")
    assert done.returncode == 0, done.stderr
    (run,) = (steelyard.folder / "results" / "tiny").iterdir()
    assert "<p>As seen in spring.</p>" in (run / "report" / "report.html").read_text()
    (run / "notes" / "two.md").write_text("As seen in autumn.\n")
    again = steelyard.run("report", "results/tiny", "--format", "md,tex")
    assert again.returncode == 0, again.stderr
    assert "> As seen in autumn." in (run / "report" / "report.md").read_text()
    article = (run / "report" / "article" / "article.tex").read_text()
    assert r"\section{two}" in article
    assert "As seen in autumn." in article


def test_a_report_for_publication_goes_elsewhere_and_names_no_one(
    after_a_run: Steelyard, finished: Finished
) -> None:
    refused = after_a_run.run("report", "results/tiny", "--anonymous")
    assert refused.returncode == 2
    assert "--to" in refused.stderr
    done = after_a_run.run("report", "results/tiny", "--anonymous", "--to", "out", "-f", "html,md")
    assert done.returncode == 0, done.stderr
    page = (after_a_run.folder / "out" / "report.html").read_text()
    assert str(finished.folder) not in page
    assert str(after_a_run.folder) not in page
    assert "The raw records are not beside this page" in page


FAIL_ON_ANY = [
    word
    for verdict in ("faster", "slower", "equivalent", "undecided")
    for word in ("--fail-if", verdict)
]


def test_restore_after_a_kill_takes_everything_back(steelyard: Steelyard) -> None:
    process = steelyard.start("run", ".")
    scratch = steelyard.folder / "results" / "tiny"
    while not list(scratch.glob("*/scratch/*/0002-1")) and process.poll() is None:
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert steelyard.wait_until_no_process() == []
    done = steelyard.run("restore", "results/tiny")
    assert done.returncode == 0, done.stderr
    assert "done on local: remove the folder " in done.stdout
    assert not list(scratch.glob("*/scratch"))
    again = steelyard.run("restore", "results/tiny")
    assert "nothing was left to undo" in again.stdout


@pytest.mark.parametrize("protocol", ["http", "smtp"])
def test_load_and_sink_work_alone_and_their_counts_agree(
    steelyard: Steelyard, protocol: str
) -> None:
    sink = steelyard.start("sink", protocol, "--listen", "127.0.0.1:0")
    assert sink.stdout is not None
    address = json.loads(sink.stdout.readline())["listening"]
    words = ["-c", "4", "-t", "1", "-d", "300ms", "--json"]
    done = steelyard.run("load", f"{protocol}://{address}/", *words)
    sink.send_signal(signal.SIGTERM)
    stdout, _ = sink.communicate(timeout=LONGEST_S)
    document, counters = json.loads(done.stdout), json.loads(stdout.splitlines()[-1])
    schema = json.loads((SCHEMAS / "load-result.schema.json").read_text(encoding="utf-8"))
    jsonschema.validate(document, schema)
    assert document["counts"]["ok"] > 0
    assert counters["ok"] >= document["counts"]["ok"]
    assert {"p50", "p95", "p99", "max"} <= set(document["latency_ns"]["response"])
    assert done.returncode == 0


@pytest.mark.parametrize("kernel", ["cpu", "memory", "loopback", "disk"])
def test_a_trace_holds_every_trial_and_leaves_nothing_else(
    steelyard: Steelyard, kernel: str
) -> None:
    words = ["trace", "--kernel", kernel, "--trials", "3", "-o", "mine.csv.gz"]
    done = steelyard.run(*words)
    for _ in range(3):  # on a busy disk no message may be durable within a trial's 100 ms
        if done.returncode == 3 and "has no figure" in done.stderr:
            done = steelyard.run(*words)
    assert done.returncode == 0, done.stderr
    bank = read_bank(steelyard.folder / "mine.csv.gz")
    assert bank.kernel == kernel
    assert len(bank.trials) == 3
    assert all(trial.value > 0 for trial in bank.trials)
    assert bank.facts["cpu.count"].isdigit()
    left = {path.name for path in steelyard.folder.iterdir()}
    assert left == {"study.yaml", "mine.csv.gz"}


def test_a_trace_that_is_interrupted_keeps_what_it_has(steelyard: Steelyard) -> None:
    process = steelyard.start("trace", "--trials", "100000", "-o", "mine.csv")
    assert process.stderr is not None
    while "trials" not in process.stderr.readline() and process.poll() is None:
        pass
    process.send_signal(signal.SIGINT)
    stdout, _ = process.communicate(timeout=LONGEST_S)
    assert process.returncode == 130
    count = len(read_bank(steelyard.folder / "mine.csv").trials)
    assert stdout.startswith(f"{count} trials in ")
    assert 1 <= count < 100_000


def test_a_trace_to_nowhere_is_refused_before_it_begins(steelyard: Steelyard) -> None:
    done = steelyard.run("trace", "-o", "not/there.csv")
    assert done.returncode == 2
    assert "there is no folder" in done.stderr


def test_a_kernel_works_alone_and_its_answer_is_right(steelyard: Steelyard) -> None:
    done = steelyard.run("kernel", "linpack", "--size", "40", "--repeat", "1", "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["schema"] == "steelyard.kernel.linpack/1"
    assert document["solutions"][0]["repeats"][0]["scaled_residual"] < 16


def test_memory_is_read_written_and_found_as_it_was_written(steelyard: Steelyard) -> None:
    words = ("--array", "1MiB", "--largest-block", "2KiB", "--repeat", "1", "--json")
    done = steelyard.run("kernel", "ram", *words)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["valid"]
    assert {each["element"] for each in document["passes"]} == {"int", "float"}
    operations = {each["operation"] for each in document["passes"]}
    assert operations == {"read", "write", "copy", "scale", "add", "triad"}


def test_a_target_that_is_not_there_is_the_operators(steelyard: Steelyard) -> None:
    done = steelyard.run("load", "http://127.0.0.1:1/", "-d", "100ms")
    assert done.returncode == 3
    assert "conn_refused" in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize(
    "words",
    [
        ["bogus"],
        ["plan"],
        ["load"],
        ["load", "gopher://x/"],
        ["run", "a", "b"],
        ["run", ".", "--format", "docx"],
    ],
)
def test_a_wrong_command_line_is_the_authors(steelyard: Steelyard, words: list[str]) -> None:
    assert steelyard.run(*words).returncode == 2
    assert not (steelyard.folder / "results").exists()
