"""What is done with each block of each page, in the order of the page; else why nothing is."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from steelyard.engine.messages import LoadWarning
from steelyard.study.lookup import METER_FILES
from tests.integration.pages.actions import (
    Action,
    Reader,
    against,
    commands,
    complaint,
    document,
    job,
    part_of,
    printed,
    session,
    shorten,
    study,
    text_file,
    where,
)
from tests.integration.pages.blocks import ROOT, Block

NEEDS_ROOT = "needs root: it installs packages"
BUILDS = "builds everything: CI does, and `make fresh` on a plain machine"
BUILDS_ENGINES = "fetches a compiler of 450 MB; it checks what it makes"
ANOTHER_MACHINE = "needs another machine"
NO_COMMAND = "is no command and no file: it shows a form"
HELD = "is held by "
IN_THE_QUEUE = HELD + "tests/platforms/test_queue.py"

REST = """\
study: part
question: Which is faster?
trials: {margin: 20 %}
"""
GATED = """\
study: part
question: Which is faster?
workload: {use: http}
"""
OTHER = """\
  other: {platform: native, service: {use: sink-http}}
workload: {use: http}
"""
OTHER_MACHINE = """\
  other: {platform: native}
workload: {use: linpack}
"""
COPIES = "workload: {use: dd}\n"
TOOL = """\
summary: A tool.
operation: runs
primary: run_time
ends: by itself
"""


def meter_file(_reader: Reader, block: Block) -> None:
    """The block is the file of a meter, without mistakes."""
    METER_FILES.parse(block.text.encode(), Path("meter.yaml"))


def repository(reader: Reader) -> None:
    """One that has the study of the guide, and a build."""
    folder = reader.folder / "perf" / "ci-gate"
    if not folder.exists():
        shutil.copytree(ROOT / "studies" / "ci-gate", folder)
        shorten(folder / "study.yaml")
        (reader.folder / "Makefile").write_text("build:\n", encoding="utf-8")


def has_openssl() -> bool:
    return shutil.which("openssl") is not None


def has_namespaces() -> bool:
    words = ["unshare", "--user", "--map-root-user", "--uts", "hostname", "box"]
    return (
        shutil.which("unshare") is not None
        and not subprocess.run(words, check=False, capture_output=True).returncode
    )


def shortened(reader: Reader) -> None:
    shorten(reader.folder / "my-study" / "study.yaml")


def where_kept(action: Action) -> Action:
    """With a run of earlier in the results folder."""

    def run(reader: Reader, block: Block) -> None:
        kept = reader.folder / "results" / "durable-mail" / "2026-11-23T19-36-28Z"
        shutil.copytree(ROOT / "tests" / "records" / "v2", kept)
        action(reader, block)

    return run


def of_two_machines(reader: Reader, block: Block) -> None:
    """As if the first file had come from both."""
    (reader.folder / "big.txt").write_text("b\na\n", encoding="utf-8")
    first, joined = block.lines
    reader.run(f"{first} --budget 5s")
    shutil.copy(reader.folder / "small", reader.folder / "large")
    reader.run(joined)
    header, *rows = (reader.folder / "trials.csv").read_text(encoding="utf-8").splitlines()
    assert header.endswith(",machine")
    assert {row.rpartition(",")[2] for row in rows} == {"small", "large"}


def where_run(action: Action) -> Action:
    """With a study that has run."""

    def run(reader: Reader, block: Block) -> None:
        reader.run("steelyard init my-study")
        shortened(reader)
        reader.run("steelyard run my-study --seed 1 --format json")
        action(reader, block)

    return run


SERVICE = "services/python-http.yaml"
WORKLOAD = "workloads/openssl-speed.yaml"

BLOCKS: dict[str, list[tuple[str, Action | str]]] = {
    "README.md": [
        ("apt install git make gcc", NEEDS_ROOT),
        ("make quickstart", BUILDS),
        ("systems:", part_of("studies/quickstart/study.yaml")),
        (
            "steelyard load imap://HOST",
            against("-d 200ms", imap="imap --mailboxes 50 --messages 10", stream="stream"),
        ),
        ("systems:", study(REST)),
    ],
    "docs/guide/add-a-platform.md": [
        ("summary:", text_file("nested.yaml")),
        ("steelyard platform check nested.yaml", commands()),
        (
            "steelyard doctor --platform ./nested",
            where(has_namespaces, "user namespaces", commands()),
        ),
        ("study: nested", study()),
        ("study: two-boards", study()),
    ],
    "docs/guide/add-a-service.md": [
        ("summary:", text_file(SERVICE)),
        ("$ steelyard service check", session),
        (
            "services/python-http.yaml:",
            complaint(SERVICE, "{address}", "{adress}", f"steelyard service check {SERVICE}"),
        ),
        ("study: python-against-sink", study()),
    ],
    "docs/guide/add-a-workload.md": [
        ("summary:", text_file(WORKLOAD)),
        ("$ steelyard workload check", session),
        (
            "workloads/openssl-speed.yaml:",
            complaint(WORKLOAD, "{window:s}", "{windov:s}", f"steelyard workload check {WORKLOAD}"),
        ),
        ("$ openssl speed", where(has_openssl, "openssl", session)),
        ("study: which-hash", study()),
    ],
    "docs/guide/browse-results.md": [
        ("steelyard serve results", HELD + "tests/integration/test_serve.py"),
        ("(umask 077;", HELD + "tests/integration/test_serve.py"),
    ],
    "docs/guide/dependencies.md": [("make audit", HELD + "tests/unit/test_dependencies.py")],
    "docs/guide/first-study.md": [
        (".venv/bin/steelyard init my-study", commands(then=shortened)),
        (".venv/bin/steelyard plan my-study", commands()),
        (".venv/bin/steelyard doctor", commands()),
        (".venv/bin/steelyard run my-study", commands("--seed 1 --format md")),
        (".venv/bin/steelyard resume results/my-study", commands("--format md")),
        (
            ".venv/bin/steelyard run my-study --fail-if",
            commands("--seed 2 --format md", codes=(0, 5)),
        ),
    ],
    "docs/guide/follow-releases.md": [
        ("steelyard history", HELD + "tests/unit/test_cli_history.py"),
        ("release ", HELD + "tests/unit/test_cli_history.py"),
    ],
    "docs/guide/gate-a-release.md": [
        ("summary:", text_file("service.yaml", "steelyard service check service.yaml")),
        ("claims:", part_of("studies/ci-gate/study.yaml")),
        ("steelyard gate perf/gate", HELD + "tests/integration/test_pipelines.py"),
        ("systems:", study(GATED)),
        ("name: Performance", HELD + "tests/integration/test_pipelines.py"),
        ("include:", HELD + "tests/integration/test_pipelines.py"),
        ("discover:", HELD + "tests/integration/test_tmt.py"),
        ("jobs:", job(repository, "report/report.md", "report/junit.xml", "summary")),
        ("performance:", job(repository, "report/junit.xml")),
    ],
    "docs/guide/install.md": [
        ("make wheel", HELD + "tests/integration/test_wheel.py"),
        ("make wheels", BUILDS_ENGINES),
        ("apt install qemu-system-arm", NEEDS_ROOT),
        ("podman build", NEEDS_ROOT),
    ],
    "docs/guide/images.md": [
        ("apt install mmdebstrap", NEEDS_ROOT),
        ("systems:", study(OTHER + REST)),
        ("systems:", study("workload: {use: http}\n" + REST)),
        ("steelyard image build debian-mail --kind container --on", ANOTHER_MACHINE),
        ("systems:", study(OTHER_MACHINE + REST)),
        ("mkosi --directory", HELD + "tests/unit/test_mkosi_templates.py"),
        ("systems:", study(OTHER_MACHINE + REST)),
    ],
    "docs/guide/several-machines.md": [
        ("study: my-test-day", study()),
        ("steelyard plan studies/tuned-test-day", HELD + "tests/unit/study/test_machines.py"),
    ],
    "docs/guide/queue.md": [
        ("steelyard submit my-study", IN_THE_QUEUE),
        ("steelyard runs", IN_THE_QUEUE),
        ("steelyard submit --resume", IN_THE_QUEUE),
        ("NodeName=", NO_COMMAND),
        ("sbatch", NO_COMMAND),
    ],
    "docs/guide/use-a-cluster.md": [
        ("pip install 'steelyard[cluster]'", "fetches packages"),
        ("make validate CLUSTER=local:8", HELD + "tests/calibration/test_validate.py"),
        ("dask ssh", ANOTHER_MACHINE),
        ("srun --ntasks 1", ANOTHER_MACHINE),
    ],
    "docs/guide/measure-an-event.md": [
        ("study: stop-of-a-server", text_file("stop.yaml")),
        ("steelyard plan stop.yaml", commands()),
    ],
    "docs/guide/measure-power.md": [
        ("study: governor-power", study()),
        ("study: boards-power", study()),
        ("summary:", meter_file),
    ],
    "docs/reference/meter-file.md": [("summary:", meter_file)],
    "docs/guide/time-commands.md": [
        ("steelyard time 'sleep 0.02'", commands()),
        ("steelyard time 'sleep {seconds}'", commands()),
        ("steelyard time 'echo took 1", commands()),
        ("steelyard versus", HELD + "tests/integration/test_timing.py"),
    ],
    "docs/guide/bisect.md": [
        ("steelyard bisect --levels", commands("--budget '20 s'", codes=(0, 7))),
        ("steelyard bisect --git", HELD + "tests/unit/timing/test_bisection.py"),
    ],
    "docs/guide/tune.md": [
        ("steelyard tune 'sleep", commands("--budget '60 s'", codes=(0, 7))),
        ("steelyard tune './bench' -L", HELD + "tests/unit/timing/test_tuning.py"),
        ("powertop2tuned", HELD + "tests/unit/timing/test_tuning.py"),
    ],
    "docs/guide/import-your-numbers.md": [
        ("{", text_file("times.json")),
        ("steelyard import hyperfine times.json", commands()),
        ("system,clients,metric,unit,direction,value", text_file("trials.csv")),
        ("steelyard import long-csv trials.csv", commands()),
    ],
    "docs/guide/judge-your-own-trials.md": [
        ("order,system,throughput", text_file("trials.csv")),
        ("steelyard judge trials.csv", commands()),
        ("trials.csv: throughput", printed),
        ("order,machine,system", HELD + "tests/unit/judge/test_machine_trials.py"),
        ("steelyard time", of_two_machines),
        ("from steelyard.judge import", HELD + "tests/unit/test_cli_judge.py"),
        ("from steelyard.report.sentences", HELD + "tests/unit/test_cli_judge.py"),
    ],
    "docs/guide/check-published-tables.md": [
        ("system,clients,metric", text_file("published.csv")),
        ("steelyard check published.csv", commands(codes=(6,))),
        ("published.csv:13", printed),
        ("claim,subject,relation", text_file("claims.csv")),
        ("steelyard check published.csv --claims", commands(codes=(6,))),
        ("published.csv:13", printed),
        ("steelyard check published.csv --json", commands(codes=(6,))),
    ],
    "docs/guide/manage-runs.md": [
        ("steelyard runs", where_kept(commands())),
        ("steelyard runs delete", commands()),
        ("steelyard runs delete", commands()),
        ("steelyard compact", where_kept(commands())),
    ],
    "docs/guide/publish-a-run.md": [
        ("steelyard publish", where_run(commands())),
        ("my-study-published/", NO_COMMAND),
        ("ssh-keygen", "needs a key of the reader's"),
        ("steelyard verify", commands()),
        ("steelyard-commitment v1", NO_COMMAND),
        ("steelyard plan", commands()),
    ],
    "docs/guide/record-noise.md": [
        ("steelyard trace --kernel cpu", commands("--trials 3")),
    ],
    "docs/reference/agent.md": [("> {", HELD + "tests/wire/test_documents.py")],
    "docs/reference/disks.md": [
        ("study: filesystems", study()),
        ("systems:", study(COPIES + REST)),
    ],
    "docs/reference/image-recipe.md": [
        ("summary:", text_file("mine.yaml", "steelyard image show mine.yaml --kind guest")),
    ],
    "docs/reference/kernels.md": [("||Ax - b||", NO_COMMAND)],
    "docs/reference/load.md": [
        ("{", HELD + "its schema in tests/unit/test_docs_commands.py"),
        ("$ steelyard load smtp://127.0.0.1:2525", against(smtp="smtp")),
        ("{", HELD + "its schema in tests/unit/test_docs_commands.py"),
    ],
    "docs/reference/platforms.md": [
        ("steelyard doctor --platform podman", "needs root and an image of the reader's"),
        ("study: appliances", study()),
    ],
    "docs/reference/query.md": [("steelyard query", HELD + "tests/unit/query/test_query.py")],
    "docs/reference/records.md": [("results/STUDY/RUN/", NO_COMMAND)],
    "docs/reference/result.md": [
        ("intended = unsent + sent", NO_COMMAND),
        ("{", document(LoadWarning)),
    ],
    "docs/reference/settings.md": [("study: swappiness", study())],
    "docs/reference/sink.md": [("Return-Path:", NO_COMMAND)],
    "docs/reference/study-file.md": [
        ("study: durable-mail", study()),
        ("study: web-and-computing", study()),
        ("study: sharing", study()),
        ("study: page-size", study()),
    ],
    "docs/reference/workload-file.md": [
        ("settings:", text_file("tool.yaml", "steelyard workload check tool.yaml", rest=TOOL)),
        ("scales:", NO_COMMAND),
    ],
}
"""The first line of each block begins with these words."""

LONG = {
    "docs/guide/first-study.md",
    "docs/guide/gate-a-release.md",
    "docs/guide/publish-a-run.md",
}
"""Pages whose commands run studies."""

RUNS = "results/my-study"
README_COMMANDS: dict[str, str | None] = {
    "steelyard time 'COMMAND' 'COMMAND'": "steelyard time 'sleep 0.01' 'sleep 0.02' --budget 20s",
    "steelyard versus URL URL": (
        "steelyard versus http://{address} http://{address} -c 2 --window '50 ms' --budget 5s"
    ),
    "steelyard bisect --levels A,B,C COMMAND": (
        "steelyard bisect --levels 1,2,4 --number '(\\d+)' "
        "'echo $(( {{level}} * 100 + 1$(date +%N) / 1000 % 7 ))'"
    ),
    "steelyard tune COMMAND -L NAME=VALUES": (
        "steelyard tune 'echo $(( {{n}} * 1000 + 1$(date +%N) / 1000 % 7 ))' "
        "-L n=1,2,4 --number '(\\d+)'"
    ),
    "steelyard init": "steelyard init my-study",
    "steelyard plan STUDY": "steelyard plan my-study",
    "steelyard run STUDY": "steelyard run my-study --seed 1 --format json",
    "steelyard gate STUDY --base REF --build COMMAND": None,  # tests/integration/test_pipelines.py
    "steelyard submit STUDY": None,  # tests/platforms/test_queue.py
    "steelyard resume RUN": f"steelyard resume {RUNS} --format json",
    "steelyard restore RUN": f"steelyard restore {RUNS}",
    "steelyard report RUN --format html,md,tex,pdf,csv,junit,json": (
        f"steelyard report {RUNS} --format html,md,tex,csv,junit,tmt,bugs,openmetrics,bmf,"
        "benchfmt,action,json"
    ),  # pdf needs pdflatex: tests/unit/report/test_article.py
    "steelyard comment RUN": f"steelyard comment {RUNS} --dry-run",
    "steelyard compare RUN RUN": f"steelyard compare {RUNS} {RUNS}",
    "steelyard publish RUN --to FOLDER": f"steelyard publish {RUNS} --to published",
    "steelyard verify FOLDER": "steelyard verify published",
    "steelyard history RUN...": None,  # needs runs of releases: tests/unit/test_cli_history.py
    "steelyard serve RESULTS": None,  # until Ctrl-C: tests/integration/test_serve.py
    "steelyard runs": "steelyard runs --sort size",
    'steelyard query "SQL" [FOLDER...]': 'steelyard query "SELECT count(*) FROM trials"',
    "steelyard compact RUN": f"steelyard compact {RUNS}",
    "steelyard judge TRIALS.csv": (
        "steelyard judge trials.csv --baseline old --response throughput"
    ),
    "steelyard check TABLE.csv": "steelyard check trials.csv",
    "steelyard import KIND FILE... --as system=A,B": "steelyard import list",
    "steelyard doctor": "steelyard doctor",
    "steelyard platform": "steelyard platform list",
    "steelyard service": "steelyard service list",
    "steelyard workload": "steelyard workload list",
    "steelyard schema NAME": "steelyard schema study",
    "steelyard support": "steelyard support",
    "steelyard image build NAME": None,  # needs root and minutes
    "steelyard load URL -c 64 -d 5s [-R RATE] [--json]": (
        "steelyard load http://{address} -c 64 -d 200ms -R 100 --json"
    ),
    "steelyard sink http --listen 127.0.0.1:8080": None,  # runs while the one above does
    "steelyard kernel linpack": "steelyard kernel linpack --size 40",
    "steelyard kernel ram": "steelyard kernel ram --array 1MiB --largest-block 2KiB --repeat 1",
    "steelyard trace --kernel cpu": "steelyard trace --kernel cpu --trials 3",
}
"""The commands of the table in README.md, and what is run for each."""
