"""Several instances in one trial: started together, counted together, recorded each."""

from __future__ import annotations

import gzip
import json
import signal
import time
from pathlib import Path
from typing import Any

from tests.integration.conftest import LONGEST_S, Steelyard, assert_each_ended_well
from tests.platforms.needs import need

from steelyard.records.schema import TrialRecord

STUDY = """\
study: neighbours
question: What do two containers serve that one does not?
systems:
  plain: {platform: podman, instances: 2, service: {use: sink-http}}
  slow:  {platform: podman, instances: 2, service: {use: sink-http, delay: 2 ms}}
workload: {use: http}
load: {users: [2]}
sample: {every: 100 ms, where: [system, host]}
responses: {throughput: {primary: true}, throughput.least: {}, host.instance_cpu: {}}
generator: {calibrate: false}
trials: {margin: 5 %, window: 300 ms, warmup: 50 ms, budget: {trials: 6 per cell}}
"""


def test_two_containers_are_measured_together_and_each_for_itself(tmp_path: Path) -> None:
    found = first_visit(tmp_path, STUDY)
    assert found
    for record in found:
        each = [one["responses"]["throughput"]["value"] for one in record["instances"]]
        assert len(each) == 2
        assert record["responses"]["throughput"]["value"] == sum(each)
        assert record["responses"]["throughput.least"]["value"] == min(each)
        began = [one["began_ns"] for one in record["instances"]]
        assert record["start_spread_ns"] == max(began) - min(began) > 0, "two are never exact"
        cores = [one["costs"]["instance_cores"] for one in record["instances"]]
        assert all(cost > 0 for cost in cores)
        assert len(set(cores)) == 2, "each is charged with what stands for itself"
        assert record["responses"]["host.instance_cpu"]["value"] == sum(cores)
        for one in record["instances"]:
            told = {(place["machine"], place["process"]) for place in one["placements"]}
            assert ("host", "container") in told
            assert any(process == "service" for _, process in told)
        assert {"samples.json.gz", "samples-system.2.json.gz", "samples-host.json.gz"} <= set(
            record["files"]
        )


def test_a_neighbour_that_rests_is_no_part_of_the_figures(tmp_path: Path) -> None:
    study = STUDY.replace("\nload:", "\nbackground: {2: {use: idle}}\nload:")
    found = first_visit(tmp_path, study)
    assert found
    for record in found:
        first, second = record["instances"]
        assert second["workload"] == "idle"
        assert second["responses"] == {}
        assert record["responses"]["throughput"] == first["responses"]["throughput"]


SCENARIOS = """\
study: scenarios
question: What passes between two containers, and what does one lose beside the other?
systems:
  plain: {platform: podman, instances: 2, network: lab}
  again: {platform: podman, instances: 2, network: lab}
workloads:
  net: {use: tcp-stream}
  cpu: {use: linpack, n: 100}
scenarios:
  between: {1: {net: {peer: 2}}}
  beside:  {1: cpu, 2: net}
sample: {every: 100 ms, where: [system]}
generator: {calibrate: false}
trials: {margin: 50 %, window: 300 ms, warmup: 50 ms, budget: {trials: 6 per cell}}
"""


def test_traffic_goes_from_instance_to_instance_and_others_work_beside_each_other(
    tmp_path: Path,
) -> None:
    found = first_visit(tmp_path, SCENARIOS)
    assert found
    between = [r for r in found if r["cell"]["conditions"]["scenario"] == "between"]
    beside = [r for r in found if r["cell"]["conditions"]["scenario"] == "beside"]
    assert between
    assert beside
    for record in between:
        first, second = record["instances"]
        assert (first["workload"], second["workload"]) == ("tcp-stream", "idle")
        assert second["background"] == ["tcp-stream to instance 1"]
        assert second["responses"] == {}
        trial = next(tmp_path.glob(f"results/*/*/trials/{record['trial']:04d}-{record['attempt']}"))
        sent = _moved(trial / "samples-system.2.json.gz", "net.eth0.tx_bytes")
        arrived = _moved(trial / "samples.json.gz", "net.eth0.rx_bytes")
        told = first["responses"]["throughput"]["value"] * 0.3
        assert sent > told / 2, "the bytes left instance 2 by its network card"
        assert arrived > told / 2, "and came in by that of instance 1"
        load = json.loads((trial / "load.json").read_text())
        assert not load["target"]["address"].startswith("127.")
    for record in beside:
        first, second = record["instances"]
        assert (first["workload"], second["workload"]) == ("linpack", "tcp-stream")
        assert first["responses"]["linpack.rate"]["value"] > 0
        assert second["responses"] == {}, "a neighbour is not measured"
        trial = next(tmp_path.glob(f"results/*/*/trials/{record['trial']:04d}-{record['attempt']}"))
        neighbour = json.loads((trial / "background-2.json").read_text())
        assert neighbour["stream"]["flows"], "what it did is kept"


def first_visit(folder: Path, study: str) -> list[dict[str, Any]]:
    """The records of a run that is interrupted when its first visit is over: a verdict is not
    what is looked for.
    """
    need("podman", "ip", "nsenter", root=True)
    (folder / "study.yaml").write_text(study)
    lab = Steelyard(folder)
    process = lab.start("run", "study.yaml")
    end = time.monotonic() + LONGEST_S
    while process.poll() is None and not any(folder.glob("results/*/*/trials/0002-*")):
        assert time.monotonic() < end, "no visit was finished"
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=LONGEST_S)
    assert process.returncode == 130, stderr
    assert lab.wait_until_no_process() == []
    found = sorted(folder.glob("results/*/*/trials/*/record.json"))
    read = [json.loads(path.read_text()) for path in found]
    cut = {record["trial"] for record in read if record["outcome"] == "interrupted"}
    ended = [record for record in read if record["trial"] not in cut]
    assert_each_ended_well(map(TrialRecord.model_validate, ended))
    return [record for record in ended if record["outcome"] == "ok"]


def _moved(samples: Path, counter: str) -> int:
    """How much a counter grew while the trial was sampled."""
    values = json.loads(gzip.decompress(samples.read_bytes()))[counter]
    return int(values[-1] - values[0])
