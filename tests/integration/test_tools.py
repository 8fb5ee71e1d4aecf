"""Studies of real tools, by the real command line."""

from __future__ import annotations

import io
import json
import re
import shutil
import signal
import tarfile
import time
from pathlib import Path
from typing import Any

import pytest

from steelyard.study import catalogue
from tests.integration.conftest import Steelyard

GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "add-a-workload.md"
FILE, STUDY = re.findall(r"```yaml\n(.*?)```", GUIDE.read_text("utf-8"), re.DOTALL)
PAIR = """\
study: pair
question: Does the tool find one of two equal places faster?
systems: {one: {platform: native}, two: {platform: native}}
workload: {WORKLOAD}
RESPONSES
trials: {margin: 20 %, window: 1 s, warmup: 0, retry: 1, budget: {trials: 6 per cell}}
sample: {every: 100 ms}
"""
SMALL = PAIR.replace("window: 1 s", "window: 100 ms")


def needs(program: str) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")


def study(workload: str, *responses: str, text: str = PAIR) -> str:
    listed = ", ".join(f"{name}: {{}}" for name in responses)
    text = text.replace("WORKLOAD", workload)
    return text.replace("RESPONSES\n", f"responses: {{{listed}}}\n" if responses else "")


def run(lab: Steelyard, text: str) -> tuple[int, str]:
    (lab.folder / "study.yaml").write_text(text, encoding="utf-8")
    done = lab.run("run", ".")
    return done.returncode, done.stdout + done.stderr


def trials(lab: Steelyard, name: str = "pair") -> list[Path]:
    return sorted((lab.folder / "results" / name).glob("*/trials/*"))


def record(trial: Path) -> dict[str, Any]:
    read: dict[str, Any] = json.loads((trial / "record.json").read_text(encoding="utf-8"))
    return read


def test_fio_is_compared_by_its_operations_and_its_output_is_kept(steelyard: Steelyard) -> None:
    needs("fio")
    fio = "use: fio, pattern: randrw, size: 1 MiB, direct: false"
    code, told = run(
        steelyard, study(fio, "fio.iops", "fio.latency.p50", "fio.rate", "run_time", text=SMALL)
    )
    assert code == 0, told
    assert "operations of fio" in told, "whatever the verdict is, it is on these"
    seen = [record(trial) for trial in trials(steelyard)]
    assert {each["outcome"] for each in seen} == {"ok"}
    assert all(each["responses"]["fio.iops"]["value"] > 0 for each in seen)
    assert all(each["responses"]["run_time"]["value"] >= 0.1 for each in seen)
    assert re.fullmatch(r"3\.\d+", seen[0]["facts"]["system"]["tool.version"])
    kept = json.loads((trials(steelyard)[0] / "output-report.txt").read_text(encoding="utf-8"))
    assert kept["jobs"][0]["mixed"]["iops"] == seen[0]["responses"]["fio.iops"]["value"]
    assert kept["jobs"][0]["job options"]["runtime"] == "100ms"


@pytest.mark.extended
def test_sysbench_is_compared_by_its_events(steelyard: Steelyard) -> None:
    needs("sysbench")
    code, told = run(steelyard, study("use: sysbench-cpu, limit: 1000"))
    assert code == 0, told
    seen = [record(trial) for trial in trials(steelyard)]
    assert all(each["responses"]["sysbench.cpu.rate"]["value"] > 0 for each in seen)


KERNEL = {
    "Makefile": """\
tinyconfig:
\techo CONFIG_TINY=y >.config
prepare: .config
\tmkdir generated
lib/: lib/sum.o
lib/%.o: lib/%.c generated
\tgcc -O2 -DBUILDER=$(KBUILD_BUILD_USER) -c -o $@ $<
.PHONY: tinyconfig prepare lib/
""",
    "lib/sum.c": "const int BUILDER = 1;\nint sum(int n) { return n < 1 ? 0 : n + sum(n - 1); }\n",
    "drivers/gpu/Makefile": "",
    "drivers/gpu/card.c": "#error only what tinyconfig can reach is unpacked\n",
}
"""As little of a tree as the targets of the workload need: that of Linux is a gigabyte."""


def kernel_sources(folder: Path) -> Path:
    archive = folder / "linux-source-0.tar.xz"
    with tarfile.open(archive, "w:xz") as tar:
        for name, text in KERNEL.items():
            entry = tarfile.TarInfo(f"linux-source-0/{name}")
            entry.size = len(text)
            tar.addfile(entry, io.BytesIO(text.encode()))
    return archive


@pytest.mark.extended
def test_a_part_of_a_kernel_is_built_and_the_time_of_the_build_decides(
    steelyard: Steelyard,
) -> None:
    for program in catalogue.workload("kernel-build").requires:
        needs(program)
    archive = kernel_sources(steelyard.folder)
    built = f"use: kernel-build, source: {archive}, part: lib"
    code, told = run(steelyard, study(built, text=SMALL))
    assert code == 0, told
    seen = [record(trial) for trial in trials(steelyard)]
    assert {each["outcome"] for each in seen} == {"ok"}
    assert all(each["responses"]["run_time"]["value"] > 0 for each in seen)
    assert re.fullmatch(r"[0-9.]+", seen[0]["facts"]["system"]["tool.version"])


@pytest.mark.extended
def test_the_study_of_the_guide_runs_and_the_run_keeps_the_file(steelyard: Steelyard) -> None:
    needs("openssl")
    (steelyard.folder / "workloads").mkdir()
    (steelyard.folder / "workloads" / "openssl-speed.yaml").write_text(FILE, encoding="utf-8")
    code, told = run(steelyard, STUDY)
    assert code == 0, told
    assert "bytes hashed" in told
    folder = next((steelyard.folder / "results" / "which-hash").iterdir())
    assert (folder / "workloads" / "openssl-speed.yaml").read_text(encoding="utf-8") == FILE
    shutil.rmtree(steelyard.folder / "workloads")
    again = steelyard.run("report", str(folder))
    assert again.returncode == 0, again.stderr


ASKING = """\
summary: Says where it would look.
operation: requests
primary: asking.rate
on: generator
speaks: [http]
load: true
settings: {}
command:
  - sh
  - -c
  - "sleep {window}; echo rate 5; echo {http_address} {http_port} {users} {window:ms} {folder}"
ends: window
metrics:
  asking.rate: {label: rate, unit: hits/s, direction: higher, meaning: x, pattern: '^rate ([0-9]+)'}
"""


@pytest.mark.extended
def test_a_tool_on_the_generator_gets_the_address_of_the_service_and_the_load(
    steelyard: Steelyard,
) -> None:
    (steelyard.folder / "asking.yaml").write_text(ASKING, encoding="utf-8")
    served = SMALL.replace("window: 100 ms", "window: 300 ms").replace(
        "{platform: native}", "{platform: native, service: {use: sink-http}}"
    )
    text = study("use: ./asking.yaml", "asking.rate", "service.cpu", text=served)
    code, told = run(steelyard, text + "load: {users: [2, 3]}\n")
    assert code == 0, told
    said: set[str] = set()
    for trial in trials(steelyard):
        seen = record(trial)
        assert seen["outcome"] == "ok"
        assert seen["responses"]["asking.rate"]["value"] == 5
        assert seen["responses"]["service.cpu"]["value"] is not None
        words = (trial / "stdout.txt").read_text(encoding="utf-8").splitlines()[1].split()
        assert words[0] == "127.0.0.1"
        assert int(words[1]) > 0
        assert words[3] == "300"
        assert not Path(words[4]).exists()
        said.add(words[2])
    assert said == {"2", "3"}


SLOW = """\
summary: Leaves something outside of its folder.
operation: runs
primary: run_time
settings: {}
prepare: [{run: [touch, LEFT]}]
command: [sleep, "60"]
ends: by itself
cleanup: [{run: [rm, LEFT]}]
"""


def test_after_a_kill_restore_runs_the_cleanup_of_the_tool(steelyard: Steelyard) -> None:
    left = steelyard.folder / "left"
    (steelyard.folder / "slow.yaml").write_text(SLOW.replace("LEFT", str(left)), encoding="utf-8")
    text = study("use: ./slow.yaml", text=SMALL)
    (steelyard.folder / "study.yaml").write_text(text, encoding="utf-8")
    process = steelyard.start("run", ".")
    while not left.exists() and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert steelyard.wait_until_no_process() == []
    assert left.exists()
    done = steelyard.run("restore", "results/pair")
    assert done.returncode == 0, done.stderr
    assert f"run `rm {left}`" in done.stdout
    assert not left.exists()
