"""Several workloads in one study: what belongs to which, and what a scenario makes of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.study.study_texts import messages_of, written

from steelyard.plan.make import make_plan
from steelyard.plan.model import Cell, Plan
from steelyard.plan.words import plan_lines
from steelyard.study.bind import BoundCell, bind
from steelyard.study.model import Level, Study
from steelyard.study.read import read_runnable_study, read_study, read_with_lacking
from steelyard.study.workload_study import conditions_count, conditions_of, studies, study_of

TEXT = """\
study: several
question: What do several workloads cost?
systems:
  native:    {platform: native}
  container: {platform: podman, instances: 3, reset: container}
  guest:     {platform: qemu, image: debian-bench, instances: 3, reset: snapshot}
baseline: native
workloads:
  cpu: {use: linpack, n: [100, 200], responses: {linpack.time: {primary: true}, linpack.rate: {}}}
  ram: {use: ram, repeats: 3}
  web: {use: http, service: sink-http}
load: {users: [1, 4]}
responses: {system.cpu: {}, response.p99: {}}
gates: {errors: none}
scenarios:
  alone:      {1: "*"}
  three:      {1: "*", 2: same, 3: same}
  beside-cpu: {1: web, 2: cpu, 3: {ram: {repeats: 9}}}
  both:       {1: [cpu, web]}
trials: {margin: 5 %, window: 1 s, budget: {trials: 12 per cell}}
"""


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return read_runnable_study(written(tmp_path, TEXT))


@pytest.fixture
def plan(study: Study) -> Plan:
    return make_plan(study, 5)


def bound(study: Study, **conditions: Level) -> BoundCell:
    return bind(study, Cell(system="container", conditions=conditions))


def test_every_workload_has_conditions_of_its_own(study: Study) -> None:
    cpu, ram, web = studies(study)
    assert cpu.factors == {
        "workload": ("cpu",),
        "workloads.cpu.n": (100, 200),
        "scenario": ("alone", "three", "both"),
    }
    assert ram.factors == {"workload": ("ram",), "scenario": ("alone", "three")}
    assert web.factors["load.users"] == (1, 4)
    assert conditions_count(study) == len(conditions_of(study)) == 6 + 2 + 8


def test_every_workload_has_a_primary_response_of_its_own(study: Study) -> None:
    assert [own.primary.name for own in studies(study)] == [
        "linpack.time", "ram.rate", "throughput",
    ]  # fmt: skip
    assert [list(own.responses) for own in studies(study)] == [
        ["linpack.time", "linpack.rate", "system.cpu"],
        ["ram.rate", "system.cpu"],
        ["throughput", "system.cpu", "response.p99"],
    ]
    assert [own.has_operations for own in studies(study)] == [False, False, True]
    assert [set(own.gates) for own in studies(study)] == [set(), set(), {"errors"}]


def test_the_error_rate_is_shared_by_the_workloads(study: Study) -> None:
    assert [own.trials.alpha for own in studies(study)] == [pytest.approx(0.05 / 3)] * 3


def test_the_only_workload_of_a_study_has_all_of_it(tmp_path: Path) -> None:
    text = TEXT.split("workloads:", maxsplit=1)[0] + "workload: {use: ram}\ntrials: {margin: 5 %}\n"
    study = read_study(written(tmp_path, text))
    (ram,) = studies(study)
    assert study_of(study, {}) == ram
    assert (ram.workload_name, ram.among) == ("ram", False)
    assert (ram.factors, ram.trials) == (study.factors, study.trials)


def test_each_cell_starts_the_service_that_its_workload_needs(study: Study) -> None:
    assert bound(study, workload="cpu", scenario="alone").service_of(1) is None
    web = bound(study, workload="web", scenario="alone").service_of(1)
    assert web is not None
    assert web.use == "sink-http"
    both = bound(study, workload="cpu", scenario="both")
    assert both.service_of(1) == web, "the workload beside it on the instance needs it"


def test_what_speaks_by_a_setting_gets_the_only_service_that_speaks_it(tmp_path: Path) -> None:
    web = "  web: {use: http, service: sink-http}"
    transfers = f"{web}\n  sftp: {{use: curl, scheme: sftp}}\n  smb: {{use: curl, scheme: smb}}"
    workloads = read_runnable_study(written(tmp_path, TEXT.replace(web, transfers))).workloads
    services = {n: w.service.use for n, w in workloads.items() if w.service is not None}
    assert services == {"web": "sink-http", "sftp": "sftp", "smb": "samba"}


def test_the_service_of_a_tool_that_speaks_an_old_protocol_is_set_to_speak_it(
    tmp_path: Path,
) -> None:
    web = "  web: {use: http, service: sink-http}"
    sftp = "  sftp: {use: curl, scheme: sftp, service: sftp}"
    some = f"{web}\n{sftp}\n  smb: {{use: curl, scheme: smb}}"
    smb = read_runnable_study(written(tmp_path, TEXT.replace(web, some))).workloads["smb"]
    assert smb.service is not None
    assert (smb.service.use, smb.service.settings["oldest"]) == ("samba", "SMB1")


def test_a_service_that_is_not_set_for_its_tool_is_refused_with_what_to_write(
    tmp_path: Path,
) -> None:
    text = TEXT.replace(
        "{use: http, service: sink-http}", "{use: curl, scheme: smb, service: samba}"
    )
    told = messages_of(written(tmp_path, text))
    assert "`samba` cannot serve it with these settings: curl speaks SMB1 only" in told
    old = text.replace("service: samba", "service: {use: samba, oldest: SMB1}")
    assert "cannot serve it" not in messages_of(written(tmp_path, old))


def test_a_service_that_does_not_speak_what_a_setting_says_is_refused(tmp_path: Path) -> None:
    text = TEXT.replace(
        "{use: http, service: sink-http}", "{use: curl, service: nginx, scheme: ftp}"
    )
    told = messages_of(written(tmp_path, text))
    assert "`nginx` speaks http, the workload speaks ftp" in told


def test_the_same_on_further_instances_is_measured_too(study: Study) -> None:
    cell = bound(study, **{"workload": "cpu", "workloads.cpu.n": 200, "scenario": "three"})
    assert (cell.system.instances, cell.background, cell.co_located) == (3, {}, {})
    assert [cell.workload_of(number).settings["n"] for number in (1, 2, 3)] == [200] * 3


def test_others_run_beside_at_the_first_of_their_levels_and_with_given_settings(
    study: Study,
) -> None:
    cell = bound(study, **{"workload": "web", "load.users": 4, "scenario": "beside-cpu"})
    assert [cell.workload_of(number).use for number in (1, 2, 3)] == ["http", "linpack", "ram"]
    assert cell.workload_of(2).settings["n"] == 100
    assert cell.workload_of(3).settings["repeats"] == 9
    assert set(cell.background) == {2, 3}


def test_each_of_a_list_is_measured_with_the_others_beside_it(study: Study) -> None:
    cpu = bound(study, workload="cpu", scenario="both")
    web = bound(study, workload="web", scenario="both")
    assert (cpu.workload.use, [each.use for each in cpu.co_located[1]]) == ("linpack", ["http"])
    assert (web.workload.use, [each.use for each in web.co_located[1]]) == ("http", ["linpack"])


def test_a_system_of_one_instance_meets_only_scenarios_of_one(study: Study, plan: Plan) -> None:
    absent = {(cell.system, cell.conditions["scenario"]) for cell in plan.not_applicable}
    assert absent == {("native", "three"), ("native", "beside-cpu")}
    met = {
        (visit.system, trial.cell.conditions["scenario"])
        for visit in plan.visits
        for trial in visit.trials
    }
    assert not met & absent
    assert ("container", "three") in met
    assert not {cell.system for cell in plan.every_cell if cell in plan.not_applicable}


def test_every_visit_measures_every_condition_of_every_workload(study: Study, plan: Plan) -> None:
    for visit in plan.visits:
        met = [trial.cell.conditions for trial in visit.trials]
        absent = [cell.conditions for cell in plan.not_applicable if cell.system == visit.system]
        wanted = [each for each in conditions_of(study) if each not in absent]
        assert sorted(map(str, met)) == sorted(map(str, wanted))


def test_traffic_from_machine_to_machine_needs_both(tmp_path: Path) -> None:
    text = TEXT.replace("  web: {use: http, service: sink-http}", "  net: {use: tcp-stream}")
    text = text.replace("response.p99: {}", "").replace("gates: {errors: none}\n", "")
    text = text[: text.index("scenarios:")] + (
        'scenarios: {neighbours: {1: {net: {peer: 2}}}, alone: {1: "*"}}\n'
        "trials: {margin: 5 %, window: 1 s, budget: {trials: 12 per cell}}\n"
    )
    study = read_runnable_study(written(tmp_path, text))
    cell = bound(study, workload="net", scenario="neighbours")
    assert cell.system.instances == 2
    assert cell.workload_of(2).use == "idle"
    assert cell.workload.settings["peer"] == "2"
    service = cell.service_of(1)
    assert service is not None
    assert service.use == "sink-stream", "the only one that answers streams"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("ask", "ask: influence\n"), "influence needs every cell"),
        (
            ("find", "find: {capacity: {errors: none}}\n"),
            "a search drives one instance alone",
        ),
        (
            (
                "screen",
                "screen: {system: guest, factors: {load.users: [1, 4], system.cpus: [1, 2]}}\n",
            ),
            "each workload has its own",
        ),
        (("compare", "compare: workload\nbaseline: cpu\n"), "`workload` cannot be compared"),
    ],
)
def test_what_is_asked_of_one_workload_only_is_refused(
    tmp_path: Path, change: tuple[str, str], message: str
) -> None:
    key, line = change
    text = TEXT.replace("baseline: native\n", "") if key == "compare" else TEXT
    path = written(tmp_path, text + line)
    assert any(message in said for said in _lacking(path))


def _lacking(path: Path) -> list[str]:
    return [complaint.message for complaint in read_with_lacking(path)[1]]


def test_a_claim_names_its_workload_and_may_use_short_names(tmp_path: Path) -> None:
    claim = "claims: [{id: c, system: guest, no_worse_than: native%s}]\n"
    assert any(
        "does not name its workload" in m for m in messages_of(written(tmp_path, TEXT + claim % ""))
    )
    path = written(tmp_path, TEXT + claim % ", at: {workload: cpu, n: 100}")
    cpu = next(iter(studies(read_study(path))))
    assert cpu.claims[0].at == {"workload": "cpu", "workloads.cpu.n": 100}
    assert not studies(read_study(path))[1].claims


WITHOUT_SCENARIOS = TEXT[: TEXT.index("scenarios:")] + TEXT[TEXT.index("trials:") :]


def test_a_search_is_of_the_workloads_that_take_a_load(tmp_path: Path) -> None:
    text = WITHOUT_SCENARIOS.replace(", instances: 3", "")
    text += "find: {capacity: {response.p99: at most 50 ms}}\n"
    study = read_runnable_study(written(tmp_path, text))
    assert [list(own.find) for own in studies(study)] == [[], [], ["capacity"]]
    plan = make_plan(study, 5)
    assert plan.searches == ({"find": "capacity", "workload": "web"},)
    for visit in plan.visits:
        assert sum("find" in trial.cell.conditions for trial in visit.trials) == 1
    cell = bound(study, find="capacity", workload="web")
    assert cell.find == study.find["capacity"]
    assert cell.study.factors["load.users"] == (1, 4)
    assert any("the most users" in line for line in plan_lines(study, plan))
    assert plan.forecast.visit_s > len(plan.conditions) * plan.forecast.trial_s


def test_a_search_without_any_load_is_refused(tmp_path: Path) -> None:
    text = WITHOUT_SCENARIOS.replace("  web: {use: http, service: sink-http}\n", "")
    text = text.replace("load: {users: [1, 4]}\n", "").replace(", response.p99: {}", "")
    text = text.replace("gates: {errors: none}\n", "")
    text += "find: {capacity: {errors: none}}\n"
    assert any("a search needs a workload" in m for m in messages_of(written(tmp_path, text)))


def test_a_probe_looks_on_at_the_loads_whose_servers_answer_it(tmp_path: Path) -> None:
    text = TEXT.replace("response.p99: {}", "response.p99: {}, probe.p50: {}")
    text += "latency_probe: {use: http, every: 10 ms}\n"
    study = read_runnable_study(written(tmp_path, text))
    cpu, ram, web = studies(study)
    assert (cpu.latency_probe, ram.latency_probe) == (None, None)
    assert web.latency_probe == study.latency_probe
    assert "probe.p50" in web.responses
    assert "probe.p50" not in cpu.responses


def test_a_probe_that_no_server_answers_is_refused(tmp_path: Path) -> None:
    text = TEXT + "latency_probe: {use: smtp-probe, every: 10 ms}\n"
    assert any(
        "no workload of this study has a server" in m for m in messages_of(written(tmp_path, text))
    )


def test_influence_is_asked_of_every_workload_by_itself(tmp_path: Path) -> None:
    study = read_runnable_study(written(tmp_path, WITHOUT_SCENARIOS + "ask: influence\n"))
    assert [own.ask for own in studies(study)] == ["influence"] * 3
    told = next(line for line in plan_lines(study, make_plan(study, 5)) if "influence" in line)
    assert "system, workloads.cpu.n, load.users" in told


def test_a_group_of_settings_is_no_factor(tmp_path: Path) -> None:
    screen = "screen: {system: native, factors: {load.users: [1, 4], system.confine: [a, b]}}\n"
    told = messages_of(written(tmp_path, WITHOUT_SCENARIOS + screen))
    assert any("a group of settings has no levels" in message for message in told)
