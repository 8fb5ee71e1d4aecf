"""Several instances in one trial: started together, counted together, recorded each."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.integration.conftest import Steelyard
from tests.platforms.needs import need

STUDY = """\
study: neighbours
question: What do two containers serve that one does not?
systems:
  plain: {platform: podman, instances: INSTANCES, service: {use: sink-http}}
  slow:  {platform: podman, instances: INSTANCES, service: {use: sink-http, delay: 2 ms}}
workload: {use: http}
load: {users: [2]}
sample: {every: 100 ms, where: [system, host]}
responses: {throughput: {primary: true}, throughput.least: {}, host.instance_cpu: {}}
generator: {calibrate: false}
trials: {margin: 5 %, window: 300 ms, warm_up: 50 ms, budget: {trials: 6 per cell}}
"""


def records(folder: Path, study: str) -> list[dict[str, Any]]:
    need("podman", "ip", "nsenter", root=True)
    (folder / "study.yaml").write_text(study)
    lab = Steelyard(folder)
    done = lab.run("run", "study.yaml")
    assert done.returncode in (0, 1), done.stderr
    assert lab.wait_until_no_process() == []
    found = sorted(folder.glob("results/*/*/trials/*/record.json"))
    return [json.loads(path.read_text()) for path in found]


def test_two_containers_are_measured_together_and_each_for_itself(tmp_path: Path) -> None:
    good = [r for r in records(tmp_path, STUDY.replace("INSTANCES", "2")) if r["outcome"] == "ok"]
    assert good
    for record in good:
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
        assert {"samples.parquet", "samples-system.2.parquet", "samples-host.parquet"} <= set(
            record["files"]
        )


def test_a_neighbour_that_rests_is_no_part_of_the_figures(tmp_path: Path) -> None:
    study = STUDY.replace("INSTANCES", "2").replace("\nload:", "\nbeside: {2: {use: idle}}\nload:")
    good = [r for r in records(tmp_path, study) if r["outcome"] == "ok"]
    assert good
    for record in good:
        first, second = record["instances"]
        assert second["workload"] == "idle"
        assert second["responses"] == {}
        assert record["responses"]["throughput"] == first["responses"]["throughput"]
