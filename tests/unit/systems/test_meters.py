"""Meters are asked as their files say, and what cannot be used has a kind."""

from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.hosts.failures import SystemFailure
from steelyard.study import catalogue
from steelyard.study.declared.placeholders import Value
from steelyard.study.declared.setting import is_plain
from steelyard.study.declared.value import defaults_of
from steelyard.study.model import MeterSpec
from steelyard.systems.meters import open_meter, refuse_unreadable
from steelyard.systems.meters.answer import AnswerError, AnswerForm, form_of

SHELLY = '{"power":64.71,"overpower":0,"is_valid":true,"timestamp":1694012345,"total":1234}'
SHELLY_2 = '{"id":0,"output":true,"apower":8.9,"aenergy":{"total":6.532,"minute_ts":1626935779}}'
TASMOTA = (
    '{"StatusSNS":{"Time":"2023-09-06T15:32:10",'
    '"ENERGY":{"Total":3.185,"Power":105,"Factor":0.95}}}'
)
REDFISH = (
    '{"@odata.id":"/redfish/v1/Chassis/1/Power","PowerControl":[{"MemberId":"0",'
    '"PowerConsumedWatts":344,"PowerCapacityWatts":800}]}'
)
METRICS = '{"Id":"EnvironmentMetrics","PowerWatts":{"DataSourceUri":"/x","Reading":374.5}}'
DCMI = """
    Instantaneous power reading:                   226 Watts
    Minimum during sampling period:                 16 Watts
    Maximum during sampling period:                468 Watts
    Average power reading over sample period:      227 Watts
    IPMI timestamp:                           Tue Sep  6 15:32:10 2023
    Sampling period:                          00000001 Seconds.
    Power reading state is:                   activated

"""
SENSOR = """Sensor ID              : Pwr Consumption (0x77)
 Entity ID             : 7.1 (System Board)
 Sensor Type (Threshold)  : Current (0x03)
 Sensor Reading        : 98 (+/- 0) Watts
 Status                : ok
"""
NO_READING = SENSOR.replace("98 (+/- 0) Watts", "No Reading")


def form(name: str, **settings: Value) -> AnswerForm:
    entry = catalogue.meter(name)
    values = {key: each for key, each in defaults_of(entry.settings).items() if is_plain(each)}
    return form_of(entry, {**values, **settings})


@pytest.mark.parametrize(
    ("read", "text", "watts", "moment"),
    [
        (form("shelly-gen1"), SHELLY, 64.71, "1694012345"),
        (form("shelly-gen2"), SHELLY_2, 8.9, None),
        (form("tasmota"), TASMOTA, 105, "2023-09-06T15:32:10"),
        (form("redfish"), REDFISH, 344, None),
        (form("redfish-metrics"), METRICS, 374.5, None),
        (form("ipmi-dcmi"), DCMI, 226, None),
        (form("ipmi-sensor", resolution=2.0), SENSOR, 98, None),
        (form("snmp", unit="kW", factor=0.01, resolution=0.01), "12\n", 120, None),
        (form("snmp", unit="W", resolution=1), '"64.5"\n', 64.5, None),
        (form("http-json", at="a.0", unit="mW", resolution=1), '{"a":["1500"]}', 1.5, None),
    ],
)
def test_an_answer_as_it_stands_there_is_read(
    read: AnswerForm, text: str, watts: float, moment: str | None
) -> None:
    value, told = read.read(text)
    assert value == pytest.approx(watts)
    assert told == moment
    assert not read.counts


def test_a_counter_is_in_joules_with_its_steps() -> None:
    read = form("snmp", unit="Wh", factor=1.0, resolution=0.1)
    assert read.counts
    assert read.read("3")[0] == 10_800
    assert read.step == pytest.approx(360)


@pytest.mark.parametrize(
    ("read", "text", "problem"),
    [
        (form("shelly-gen1"), "<html>404</html>", "unreadable"),
        (form("shelly-gen1"), '{"power":null,"timestamp":1}', "unreadable"),
        (form("shelly-gen1"), '{"power":true,"timestamp":1}', "unreadable"),
        (form("shelly-gen1"), '{"power":NaN,"timestamp":1}', "unreadable"),
        (form("shelly-gen1"), '{"power":-3.2,"timestamp":1}', "negative"),
        (form("shelly-gen1"), '{"power":"low","timestamp":1}', "unreadable"),
        (form("snmp", unit="W", factor=-1.0, resolution=1), "12", "negative"),
        (form("shelly-gen1"), '{"timestamp":1}', "unreadable"),
        (form("shelly-gen1"), "[" * 100_000, "unreadable"),
        (form("redfish"), '{"PowerControl":[]}', "unreadable"),
        (form("ipmi-dcmi"), DCMI.replace("226 Watts", "226 BTU/h"), "other_unit"),
        (form("ipmi-dcmi"), "    Power reading state is:     deactivated\n", "unreadable"),
        (
            form("ipmi-sensor", resolution=2.0),
            SENSOR.replace("98 (+/- 0) Watts", "No Reading"),
            "unreadable",
        ),
        (
            form("snmp", unit="W", resolution=1),
            "No Such Instance currently exists at this OID\n",
            "unreadable",
        ),
    ],
)
def test_an_answer_that_tells_no_power_has_a_kind(
    read: AnswerForm, text: str, problem: str
) -> None:
    with pytest.raises(AnswerError) as refused:
        read.read(text)
    assert refused.value.problem == problem
    assert len(refused.value.said) <= 200


def own(tmp_path: Path, command: str) -> MeterSpec:
    text = (
        "summary: A script.\nsettings: {password: {kind: text, required: true, meaning: m}}\n"
        f"command: {{{command}}}\n"
        "value: {pattern: '(\\S+)', unit: W, resolution: 1}\nevery: 1 s\ntimeout: 500 ms\n"
    )
    return MeterSpec(use="./mine.yaml", settings={"password": "${env:WORD}"}, text=text)


def test_a_password_stands_in_the_environment_and_in_files_but_in_no_word(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORD", "17")
    spec = own(
        tmp_path,
        'run: [sh, -c, "cat $FOLDER/conf"], environment: {FOLDER: "{folder}"}, '
        'files: {conf: "{password}"}',
    )
    assert open_meter(spec).read().value == 17


@pytest.mark.parametrize(
    ("words", "problem", "said"),
    [
        ("[sh, -c, 'echo broken >&2; exit 1']", "silent", "broken"),
        ("[no-such-program-here]", "silent", "no such file"),
        ("[sleep, '20']", "late", "500"),
        ("[echo, many]", "unreadable", "many"),
    ],
)
def test_a_command_that_tells_nothing_has_a_kind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str, problem: str, said: str
) -> None:
    monkeypatch.setenv("WORD", "17")
    spec = own(tmp_path, f"run: {words}")
    reading = open_meter(spec).read()
    assert (reading.value, reading.problem) == (None, problem)
    assert said in reading.said or problem == "late"
    with pytest.raises(SystemFailure) as refused:
        refuse_unreadable(spec)
    assert refused.value.for_operator


def test_a_meter_that_tells_nothing_of_a_machine_that_is_on_is_refused_before_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORD", "17")
    with pytest.raises(SystemFailure) as refused:
        refuse_unreadable(own(tmp_path, "run: [echo, '0']"))
    assert refused.value.for_operator
    assert "0 W" in refused.value.message
