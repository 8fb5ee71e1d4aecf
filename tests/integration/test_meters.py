"""Whole runs with a meter of each kind: a plug, a BMC by Redfish and by IPMI, a strip by SNMP.

The meters are fake: servers on loopback, and programs that print what the real ones print.
"""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from steelyard.records.archive import open_run
from steelyard.records.schema import TrialRecord
from steelyard.study import catalogue
from steelyard.study.model import MeterSpec
from steelyard.systems.meters import open_meter
from tests.integration.conftest import Steelyard
from tests.unit.systems.test_meters import DCMI

ROOT = Path(__file__).parents[2]
WATTS = 40.0
STUDY = """\
study: metered
question: Which of two equal commands uses less energy?
defaults: {{meter: {meter}}}
systems:
  one: {{platform: native}}
  two: {{platform: native}}
workload: {{command: [sleep, "{seconds}"]}}
responses: {{power.energy: {{primary: true}}, power.mean: {{}}, run_time: {{}}}}
sample: {{every: 100 ms}}
trials: {{margin: 5 %, retry: 0, budget: {{trials: 6 per cell}}}}
"""
Answer = Callable[[str, str | None], tuple[int, str]]
"""From the path and the login of a request to status and body."""


@pytest.fixture
def served() -> Iterator[Callable[[Answer], str]]:
    servers: list[ThreadingHTTPServer] = []

    def serve(answer: Answer) -> str:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                status, body = answer(self.path, self.headers.get("Authorization"))
                self.send_response(status)
                self.send_header("Content-Length", str(len(body.encode())))
                self.end_headers()
                self.wfile.write(body.encode())

            def log_message(self, *_: object) -> None:
                """Nothing."""

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        servers.append(server)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return f"127.0.0.1:{server.server_port}"

    yield serve
    for server in servers:
        server.shutdown()
        server.server_close()


def plug(path: str, _: str | None) -> tuple[int, str]:
    """A Shelly plug that draws a constant power."""
    body = {"power": WATTS, "is_valid": True, "timestamp": time.time_ns(), "total": 5}
    return (200, json.dumps(body)) if path == "/meter/0" else (404, "")


def bmc(path: str, login: str | None) -> tuple[int, str]:
    if login != "Basic " + base64.b64encode(b"reader:s3cret-of-a-bmc").decode():
        return 401, ""
    body = {"PowerControl": [{"MemberId": "0", "PowerConsumedWatts": WATTS}]}
    return (200, json.dumps(body)) if path == "/redfish/v1/Chassis/1/Power" else (404, "")


def program(folder: Path, name: str, text: str) -> None:
    file = folder / name
    file.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    file.chmod(0o755)


def quick(steelyard: Steelyard, name: str) -> str:
    """The file of a meter as a file of one's own, with ten readings a second."""
    text, found = re.subn(r"(?m)^every: .*$", "every: 100 ms", catalogue.text("meters", name))
    assert found == 1
    steelyard.folder.joinpath("quick.yaml").write_text(text, encoding="utf-8")
    return "./quick.yaml"


def records_of(steelyard: Steelyard, meter: str, seconds: str = "1") -> list[TrialRecord]:
    study = STUDY.format(meter=meter, seconds=seconds)
    steelyard.folder.joinpath("study.yaml").write_text(study, encoding="utf-8")
    done = steelyard.run("run", "study.yaml")
    assert done.returncode in (0, 1), done.stderr
    return list(open_run(steelyard.folder / "results" / "metered").records())


def agrees(record: TrialRecord) -> bool:
    """Whether the record has a figure: then it is the right one, else a reason stands there."""
    energy, power = record.responses["power.energy"], record.responses["power.mean"]
    if energy.value is None:  # a machine that is too busy to ask in time
        assert energy.missing is not None
        assert energy.missing.kind in {"meter_late", "too_few_samples"}
        return False
    run_time = record.value("run_time") or 0
    assert power.value == pytest.approx(WATTS)
    assert energy.value == pytest.approx(WATTS * run_time, rel=0.01)
    assert energy.within is not None
    assert energy.within <= 0.2 * energy.value
    return True


def test_a_plug_tells_the_energy_of_each_trial(
    steelyard: Steelyard, served: Callable[[Answer], str]
) -> None:
    address = served(plug)
    meter = quick(steelyard, "shelly-gen1")
    records = records_of(steelyard, f'{{use: {meter}, address: "{address}"}}')
    told = [agrees(record) for record in records]
    assert any(told)
    facts = records[0].facts["system"]
    assert (facts["meter.use"], facts["meter.address"]) == (meter, address)
    kept = next(steelyard.folder.rglob("samples-meter.json.gz"))
    assert kept.stat().st_size > 0


def test_a_plug_that_fails_later_gives_reasons_and_no_figures(
    steelyard: Steelyard, served: Callable[[Answer], str]
) -> None:
    asked: list[int] = []

    def once(path: str, login: str | None) -> tuple[int, str]:
        asked.append(1)
        return plug(path, login) if len(asked) == 1 else (500, "")

    address = served(once)
    meter = quick(steelyard, "shelly-gen1")
    records = records_of(steelyard, f'{{use: {meter}, address: "{address}"}}')
    energies = [record.responses["power.energy"] for record in records]
    assert energies
    for energy in energies:
        assert energy.value is None
        assert energy.missing is not None
        assert energy.missing.kind == "meter_silent"
    assert all((record.value("run_time") or 0) >= 1 for record in records)


def test_a_meter_that_cannot_be_read_ends_the_session_before_anything_is_started(
    steelyard: Steelyard, served: Callable[[Answer], str]
) -> None:
    address = served(lambda *_: (200, '{"power": "unknown", "timestamp": 1}'))
    study = STUDY.format(meter=f'{{use: shelly-gen1, address: "{address}"}}', seconds="1")
    steelyard.folder.joinpath("study.yaml").write_text(study, encoding="utf-8")
    refused = steelyard.run("run", "study.yaml")
    assert refused.returncode == 3
    assert "system-cannot-be-prepared" in refused.stderr
    assert not list(steelyard.folder.rglob("record.json"))


@pytest.mark.extended
def test_a_bmc_that_speaks_redfish_is_logged_in_to_and_its_password_is_in_no_file(
    steelyard: Steelyard, served: Callable[[Answer], str]
) -> None:
    secret = steelyard.folder / "secret"
    secret.write_text("s3cret-of-a-bmc\n", encoding="utf-8")
    url, word = f"http://{served(bmc)}", f"${{file:{secret}}}"
    meter = quick(steelyard, "redfish")
    records = records_of(
        steelyard, f'{{use: {meter}, url: "{url}", user: reader, password: "{word}"}}'
    )
    told = [agrees(record) for record in records]
    assert any(told)
    files = [path for path in steelyard.folder.rglob("*") if path.is_file() and path != secret]
    assert [path for path in files if b"s3cret-of-a-bmc" in path.read_bytes()] == []


@pytest.mark.extended
def test_ipmitool_is_asked_with_the_password_in_its_environment(
    steelyard: Steelyard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = DCMI.replace("226 Watts", f"{WATTS:g} Watts")
    program(
        tmp_path,
        "ipmitool",
        f'[ "$IPMI_PASSWORD" = letmein ] || exit 1\ncase "$*" in *letmein*) exit 1;; esac\n'
        f"cat <<'TEXT'\n{said}TEXT",
    )
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("BMC_PASSWORD", "letmein")
    settings = 'address: bmc, user: reader, password: "${env:BMC_PASSWORD}"'
    records = records_of(steelyard, f"{{use: {quick(steelyard, 'ipmi-dcmi')}, {settings}}}")
    told = [agrees(record) for record in records]
    assert any(told)


@pytest.mark.extended
def test_the_power_study_runs_with_a_meter(
    steelyard: Steelyard, served: Callable[[Answer], str]
) -> None:
    """Its variant as it is, on two systems that are alike in place of tuned's profiles."""
    text = (ROOT / "studies" / "tuned-power" / "study.yaml").read_text(encoding="utf-8")
    for old, new in (
        (
            "  here: {platform: native} ",
            '  "off": {platform: native}\n  powersave: {platform: native} ',
        ),
        ('factors:\n  settings.tuned: ["off", powersave]\ncompare: settings.tuned\n', ""),
        ("192.0.2.7", served(plug)),
        ("head -c 32G /dev/zero | sha256sum", "sleep 1"),
        ("use: shelly-gen1", f"use: {quick(steelyard, 'shelly-gen1')}"),
        ("sample: {every: 1 s}", "sample: {every: 100 ms}"),
        (
            "  settle: until idle, at most 1 min\n  budget: {time: 2 h}",
            "  budget: {trials: 6 per cell}",
        ),
    ):
        assert old in text
        text = text.replace(old, new)
    steelyard.folder.joinpath("study.yaml").write_text(text, encoding="utf-8")
    done = steelyard.run("run", "study.yaml", "--variant", "meter")
    assert done.returncode in (0, 1), done.stderr
    records = list(open_run(steelyard.folder / "results" / "tuned-power").records())
    told = [agrees(record) for record in records]
    assert any(told)


SNMP = {
    "use": "snmp",
    "settings": {
        "oid": ".1.3.6.1.4.1.8072.9999.1.0",
        "unit": "W",
        "factor": 0.1,
        "resolution": 0.1,
        "password": "readers",
    },
}


def test_snmpget_is_asked_with_the_community_in_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(
        tmp_path,
        "snmpget",
        'case "$*" in *readers*) exit 1;; esac\n'
        'grep -q "^defCommunity readers$" "$SNMPCONFPATH/snmp.conf" && echo 405',
    )
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    settings = {**SNMP["settings"], "address": "strip"}
    reading = open_meter(MeterSpec(use="snmp", settings=settings)).read()
    assert (reading.value, reading.problem) == (40.5, None)


needs_snmp = pytest.mark.skipif(
    shutil.which("snmpd") is None or shutil.which("snmpget") is None,
    reason="needs snmpd and snmpget",
)


@needs_snmp
def test_a_real_agent_of_snmp_is_read(tmp_path: Path) -> None:
    port = "127.0.0.1:16161"
    configuration = tmp_path / "snmpd.conf"
    configuration.write_text(
        "rocommunity readers 127.0.0.1\noverride -rw .1.3.6.1.4.1.8072.9999.1.0 integer 405\n",
        encoding="utf-8",
    )
    agent = subprocess.Popen(
        ["snmpd", "-f", "-C", "-c", str(configuration), "-Lf", str(tmp_path / "log"), port],
        env={**os.environ, "SNMP_PERSISTENT_DIR": str(tmp_path), "MIBS": ""},
        stdin=subprocess.DEVNULL,
    )
    try:
        spec = MeterSpec(use="snmp", settings={**SNMP["settings"], "address": port})
        reading = open_meter(spec).read()
        for _ in range(50):
            if reading.problem is None:
                break
            time.sleep(0.1)
            reading = open_meter(spec).read()
        assert (reading.value, reading.problem) == (40.5, None), reading.said
        other = MeterSpec(use="snmp", settings={**spec.settings, "oid": ".1.3.6.1.4.1.8072.1"})
        assert open_meter(other).read().problem in {"unreadable", "silent"}
    finally:
        agent.terminate()
        agent.wait()
