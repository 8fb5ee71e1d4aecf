"""A cell becomes a job that the engine's schema accepts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from steelyard.errors import StudyError
from steelyard.plan.model import Cell
from steelyard.study import catalogue
from steelyard.study.bind import bind
from steelyard.study.model import Study
from steelyard.study.read import read_study_bytes
from steelyard.workloads.load import OPERATIONS, load_job, longest_run_s, probe_job
from steelyard.workloads.operations.model import Server

SCHEMA = json.loads(
    (Path(__file__).parents[3] / "schemas" / "load-job.schema.json").read_text(encoding="utf-8")
)
SERVER = Server(
    "127.0.0.1:2525",
    listeners={"imap": "127.0.0.1:2143", "pop3": "127.0.0.1:2110"},
    authority="/trial/authority.pem",
)
ONE = "{{platform: native, service: {{use: {sink}}}}}"
SYSTEMS = f"{{{{one: {ONE}, two: {ONE}}}}}"


def study(workload: str, load: str, sink: str = "sink-smtp") -> Study:
    text = f"""
study: jobs
question: Which job comes out?
systems: {SYSTEMS.format(sink=sink)}
workload: {workload}
load: {load}
trials: {{margin: 2 %, window: 2 s, warmup: 0.5 s}}
"""
    return read_study_bytes(text.encode(), Path("study.yaml"))


def job(read: Study, **conditions: Any) -> dict[str, Any]:
    bound = bind(read, Cell(system="one", conditions=conditions))
    return load_job(read, bound, SERVER, seed=7)


def test_users_make_a_closed_job_in_ns_and_bytes() -> None:
    got = job(
        study("{use: smtp, body: 4 KiB, recipients: 10}", "{users: [1, 4]}"), **{"load.users": 4}
    )
    assert got["mode"] == {"kind": "closed", "users": 4, "think_time_ns": 0}
    assert got["target"] == "smtp://127.0.0.1:2525"
    assert (got["warmup_ns"], got["duration_ns"]) == (500_000_000, 2_000_000_000)
    assert got["operation"]["body_bytes"] == 4096
    jsonschema.validate(got, SCHEMA)


def test_a_rate_makes_an_open_job() -> None:
    read = study("{use: http, path: /index.html}", "{rate: [100]}", "sink-http")
    got = job(read, **{"load.rate": 100})
    assert got["mode"]["kind"] == "open"
    assert got["mode"]["rate_per_s"] == 100.0
    assert got["target"] == "http://127.0.0.1:2525/index.html"
    jsonschema.validate(got, SCHEMA)


def test_a_factor_of_the_workload_reaches_the_job() -> None:
    read = study("{use: smtp, body: [1 KiB, 8 KiB]}", "{users: [1]}")
    got = job(read, **{"load.users": 1, "workload.body": 8192})
    assert got["operation"]["body_bytes"] == 8192


def test_headers_are_cut_at_their_first_colon() -> None:
    read = study('{use: http, headers: ["X-Time: 12:30"]}', "{users: [1]}", "sink-http")
    got = job(read, **{"load.users": 1})
    assert got["operation"]["headers"] == [["X-Time", "12:30"]]
    jsonschema.validate(got, SCHEMA)


@pytest.mark.parametrize("key", ["warmup_s", "window_s", "drain_s", "timeout_s"])
def test_a_load_run_is_given_more_time_than_its_parts(key: str) -> None:
    read = study("{use: smtp}", "{users: [1]}")
    assert longest_run_s(read, read.workloads["smtp"]) > getattr(read.trials, key)


def test_every_workload_that_takes_a_load_and_runs_has_its_operation() -> None:
    entries = {name: catalogue.workload(name) for name in catalogue.names("workloads")}
    driven = {name for name, entry in entries.items() if entry.load and entry.runs}
    assert {name for name in driven if not entries[name].is_tool} == set(OPERATIONS)


def service_for(use: str) -> str:
    entry = catalogue.workload(use)
    names = [n for n in catalogue.names("services") if catalogue.service(n).runs]
    return next(n for n in names if entry.fits(catalogue.service(n).speaks))


@pytest.mark.parametrize("use", sorted(OPERATIONS))
def test_the_job_of_every_workload_is_one_the_engine_reads(use: str) -> None:
    got = job(study(f"{{use: {use}}}", "{users: [2]}", service_for(use)), **{"load.users": 2})
    jsonschema.validate(got, SCHEMA)


SAID = [
    ("{use: http, version: http2, requests_at_once: 8, verify: true}", "sink-http",
     {"version": "http2", "requests_at_once": 8, "verify": True}),
    ('{use: http, paths: ["/a", "/b"]}', "sink-http", {"paths": ["/a", "/b"]}),
    ("{use: smtp, pipelining: message, chunking: true, recipients_per_message: 3}", "sink-smtp",
     {"pipelining": "message", "chunking": True, "recipients_per_message": 3}),
    ('{use: smtp, sizes: ["4 KiB: 9", "1 MiB: 1"]}', "sink-smtp",
     {"body_sizes": [[4096, 9.0], [1048576, 1.0]]}),
    ("{use: lmtp, body: 1 KiB}", "sink-lmtp", {"protocol": "smtp", "body_bytes": 1024}),
    ("{use: smtp-probe}", "sink-smtp", {"messages_per_connection": 1}),
    ("{use: pop3, retrieve: 50 %, delete: 10 %, listing: list}", "sink-pop3",
     {"retrieve_share": 0.5, "delete_share": 0.1, "uidl": False}),
    ("{use: imap, commands: [fetch=3, noop], append: 1 KiB}", "sink-imap",
     {"commands": {"fetch": 3.0, "noop": 1.0}, "append_bytes": 1024}),
    ("{use: ftp, file: 1 kB}", "sink-ftp",
     {"actions": {"download": 1.0}, "download": ["/bytes/1000"]}),
    ("{use: ftp, do: upload, file: 1 kB, user_rate: 8 kbit/s}", "sink-ftp",
     {"actions": {"upload": 1.0}, "upload_bytes": 1000, "user_bytes_per_s": 1000}),
    ("{use: request-response, request: 100 B, response: 1 kB}", "sink-echo",
     {"request_bytes": 100, "response_bytes": 1000}),
    ("{use: tcp-stream, direction: out, pace: 8 Mbit/s}", "sink-stream",
     {"direction": "receive", "bytes_per_s": 1e6}),
    ("{use: udp-stream, direction: in, datagram: 100 B, offload: false}", "sink-stream",
     {"direction": "send", "block_bytes": 100, "segment_offload": False}),
]  # fmt: skip


@pytest.mark.parametrize(("workload", "sink", "expected"), SAID)
def test_what_a_study_says_of_its_workload_reaches_the_operation(
    workload: str, sink: str, expected: dict[str, Any]
) -> None:
    got = job(study(workload, "{users: [2]}", sink), **{"load.users": 2})
    jsonschema.validate(got, SCHEMA)
    assert {key: got["operation"][key] for key in expected} == expected


def test_delivery_writes_to_one_mailbox_for_each_user_and_looks_where_imap_listens() -> None:
    got = job(study("{use: delivery}", "{users: [3]}", "sink-mail"), **{"load.users": 3})
    operation = got["operation"]
    assert got["target"] == "smtp://127.0.0.1:2525"
    assert operation["mailbox"] == "imap://127.0.0.1:2143"
    assert operation["submit"]["recipients"] == operation["login"]["users"] == 3


@pytest.mark.parametrize(
    ("use", "tls", "scheme", "upgraded"),
    [
        ("imap", "none", "imap", "never"),
        ("imap", "implicit", "imaps", "never"),
        ("smtp", "starttls", "smtp", "require"),
        ("ftp", "implicit", "ftps", "never"),
    ],
)
def test_tls_is_spoken_as_asked_for_and_certificates_are_verified(
    use: str, tls: str, scheme: str, upgraded: str
) -> None:
    sink = f"sink-{use}, tls: {tls}"
    got = job(study(f"{{use: {use}, tls: {tls}}}", "{users: [1]}", sink), **{"load.users": 1})
    assert got["target"].startswith(f"{scheme}://")
    assert got["operation"]["starttls"] == upgraded
    assert got["tls"]["insecure"] is False
    assert got["tls"]["ca_file"] == "/trial/authority.pem"


def test_a_workload_that_speaks_tls_to_a_service_that_does_not_is_a_mistake() -> None:
    with pytest.raises(StudyError) as refused:
        study("{use: imap, tls: implicit}", "{users: [1]}", "sink-imap")
    assert {"`tls` of the workload is implicit, that of the service differs"} == {
        complaint.message for complaint in refused.value.complaints
    }


def test_streams_take_users_and_no_rate() -> None:
    with pytest.raises(StudyError) as refused:
        study("{use: tcp-stream}", "{rate: [10]}", "sink-stream")
    assert [c.message for c in refused.value.complaints] == ["`tcp-stream` takes no rate"]


def test_messages_of_each_user_end_a_job_instead_of_the_clock() -> None:
    read = study("{use: smtp, messages: 100 per user}", "{users: [4]}")
    got = job(read, **{"load.users": 4})
    assert (got["duration_ns"], got["operations"], got["operations_per_user"]) == (None, None, 100)
    jsonschema.validate(got, SCHEMA)
    assert longest_run_s(read, read.workloads["smtp"]) > 600


def test_requests_of_all_users_end_a_job() -> None:
    read = study("{use: http, requests: 10000, keep_alive: false}", "{users: [150]}", "sink-http")
    got = job(read, **{"load.users": 150})
    assert (got["duration_ns"], got["operations"]) == (None, 10_000)
    assert "operations_per_user" not in got


def test_a_total_of_bytes_is_whole_files_and_clients_are_users() -> None:
    parts = "{use: ftp, file: 10 MB, total: 1 GB, clients: [10, 20], timeout: 4 s}"
    systems = SYSTEMS.format(sink="sink-ftp")
    text = f"""
study: jobs
question: Which job comes out?
systems: {systems}
workload: {parts}
trials: {{margin: 2 %}}
"""
    read = read_study_bytes(text.encode(), Path("study.yaml"))
    assert read.factors == {"load.users": (10, 20)}
    got = job(read, **{"load.users": 20})
    assert (got["operations"], got["mode"]["users"]) == (100, 20)
    assert got["timeout_ns"] == 4_000_000_000


PROBED = """
study: probed
question: What does a latency probe see?
systems: {systems}
workload: {{use: smtp{more}}}
latency_probe: {{use: smtp-probe, every: 100 ms}}
load: {{users: [4]}}
trials: {{margin: 2 %, window: 2 s, warmup: 0.5 s, timeout: 3 s}}
"""


def probed(more: str = "") -> dict[str, Any]:
    text = PROBED.format(systems=SYSTEMS.format(sink="sink-smtp"), more=more)
    read = read_study_bytes(text.encode(), Path("study.yaml"))
    bound = bind(read, Cell(system="one", conditions={"load.users": 4}))
    return probe_job(read, bound, SERVER, seed=7)


def test_a_probe_leaves_by_the_clock_with_the_window_of_its_load() -> None:
    got = probed()
    assert got["mode"] == {
        "kind": "open",
        "rate_per_s": 10.0,
        "arrival": "constant",
        "connections": 31,
    }
    assert (got["warmup_ns"], got["duration_ns"]) == (500_000_000, 2_000_000_000)
    assert got["operation"]["messages_per_connection"] == 1
    jsonschema.validate(got, SCHEMA)


def test_a_probe_beside_a_load_of_so_many_messages_has_no_number_of_its_own() -> None:
    got = probed(", messages: 100 per user")
    assert got["operations"] is None
    assert "operations_per_user" not in got
    assert got["duration_ns"] > 600_000_000_000
