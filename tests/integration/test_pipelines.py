"""The Action and the component of GitLab as a runner executes them: their own scripts, in bash."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from steelyard.cli.options import FailIf
from tests.integration.conftest import LONGEST_S, Steelyard

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs" / "guide" / "gate-a-release.md").read_text(encoding="utf-8")
YAMLS = YAML(typ="safe", pure=True)
ACTION: dict[str, Any] = YAMLS.load(ROOT / "action.yml")
INPUTS, COMPONENT = YAMLS.load_all(ROOT / "templates" / "gate.yml")
(GITLAB,) = COMPONENT.values()

SERVICE = """\
summary: A server of this repository; how long it waits is in its build.
speaks: [http]
requires: [python3]
settings:
  build: {kind: text, required: true, meaning: "folder of the build, beside the study"}
  port: {kind: port, meaning: "port"}
command: [python3, "{study}/{build}/built/server.py", "{address}", "{port}"]
listeners: {http: port}
ready: listening
"""
SERVER = """\
import http.server, sys, time
class Page(http.server.BaseHTTPRequestHandler):
    protocol_version, wbufsize = "HTTP/1.1", -1
    def do_GET(self):
        time.sleep(WAIT_S)
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")
    log_message = lambda *_: None
http.server.ThreadingHTTPServer((sys.argv[1], int(sys.argv[2])), Page).serve_forever()
"""
STUDY = """\
study: gate
question: Is this change slower than its base?
systems:
  base:      {platform: native, service: {use: ./service.yaml, build: ../../.steelyard/base}}
  candidate: {platform: native, service: {use: ./service.yaml, build: ../..}}
baseline: base
workload: {use: http}
load: {users: 2}
generator: {calibrate: false}
trials: {margin: 20 %, window: 100 ms, warmup: 10 ms, reset: none, budget: {time: 5 min}}
"""
BUILD = "mkdir -p built && cp server.py built/"
LATER_S = 0.02


@pytest.fixture
def repository(steelyard: Steelyard) -> Path:
    """Its first commit is the base; the change is in the work tree."""
    (steelyard.folder / "study.yaml").unlink()
    gate = steelyard.folder / "perf" / "gate"
    gate.mkdir(parents=True)
    (gate / "study.yaml").write_text(STUDY, encoding="utf-8")
    (gate / "service.yaml").write_text(SERVICE, encoding="utf-8")
    change(steelyard.folder, wait_s=0)
    git(steelyard.folder, "init", "--quiet")
    git(steelyard.folder, "add", ".")
    git(
        steelyard.folder,
        *["-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "-m", "base"],
    )
    command = steelyard.folder / "bin" / "steelyard"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m steelyard "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    return steelyard.folder


def change(folder: Path, wait_s: float) -> None:
    (folder / "server.py").write_text(SERVER.replace("WAIT_S", str(wait_s)), encoding="utf-8")


def git(folder: Path, *words: str) -> str:
    command = ["git", "-C", str(folder), *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def environment(steelyard: Steelyard, **own: str) -> dict[str, str]:
    """Of a job, without what this machine's own runner may have set."""
    inherited = {n: v for n, v in steelyard.environment.items() if not n.startswith(("GIT", "CI_"))}
    folder = steelyard.folder
    runner = {name: str(folder / name.lower()) for name in ("RUNNER_TEMP", "GITHUB_OUTPUT")}
    (folder / "runner_temp").mkdir(exist_ok=True)
    return {**inherited, **runner, "PATH": f"{folder / 'bin'}:{os.environ['PATH']}", **own}


def in_bash(script: str, folder: Path, env: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """As both runners start it: an error ends it."""
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
    return subprocess.run(
        command, cwd=folder, env=env, capture_output=True, text=True, timeout=LONGEST_S, check=False
    )


def action(steelyard: Steelyard, **given: str) -> subprocess.CompletedProcess[str]:
    """Its steps with a script, each with its own variables; the last that ran."""
    given = {"base": "HEAD", "comment": "false", "token": "", **given}
    inputs = {
        name: given.get(name, each.get("default", "")) for name, each in ACTION["inputs"].items()
    }
    done = None
    for step in ACTION["runs"]["steps"]:
        if "run" not in step:
            continue
        own = {name: filled(str(text), inputs) for name, text in step["env"].items()}
        done = in_bash(step["run"], steelyard.folder, environment(steelyard, **own))
        if done.returncode:
            break
    assert done is not None
    return done


def filled(text: str, inputs: Mapping[str, str]) -> str:
    """As the server fills expressions in, before a step starts."""
    text = re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda found: inputs[found[1]], text)
    return text.replace("${{ github.action_path }}", str(ROOT))


def component(steelyard: Steelyard, **given: str) -> subprocess.CompletedProcess[str]:
    inputs = {name: str(each.get("default", "")) for name, each in INPUTS["spec"]["inputs"].items()}
    inputs |= {"comment": "false", **given}
    own = {
        name: re.sub(r"\$\[\[ inputs\.([\w-]+) \]\]", lambda found: inputs[found[1]], each["value"])
        for name, each in GITLAB["variables"].items()
    }
    env = environment(steelyard, CI_MERGE_REQUEST_DIFF_BASE_SHA="HEAD", **own)
    return in_bash("\n".join(GITLAB["script"]), steelyard.folder, env)


ASKED = {"study": "perf/gate", "build": BUILD, "budget": "2min"}


def test_a_slower_change_fails_the_action_and_both_builds_were_measured(
    steelyard: Steelyard, repository: Path
) -> None:
    change(repository, LATER_S)
    done = action(steelyard, **ASKED)
    assert done.returncode == 5, done.stderr
    report = repository / "runner_temp" / "steelyard-report"
    outputs = (repository / "github_output").read_text().split()
    assert outputs == ["exit-code=5", f"report={report}"]
    assert {"report.html", "report.md", "junit.xml", "findings.json"} <= {
        path.name for path in report.iterdir()
    }
    assert (repository / ".steelyard" / "base" / "built" / "server.py").exists()
    assert "finds" in done.stderr


@pytest.mark.extended
def test_a_change_that_is_not_slower_passes_the_component(
    steelyard: Steelyard, repository: Path
) -> None:
    done = component(steelyard, **{**ASKED, "budget": "20s", "fail-if": "contradicted"})
    assert done.returncode == 0, done.stderr
    assert (repository / "steelyard-report" / "junit.xml").exists()


HOSTILE = '"; touch owned; $(touch owned) `touch owned` ${{ x }} #'


@pytest.mark.parametrize("name", ["study", "variant", "budget", "fail-if"])
def test_an_input_is_never_taken_for_a_script(
    steelyard: Steelyard, repository: Path, name: str
) -> None:
    for run in (action, component):
        done = run(steelyard, **{**ASKED, "build": "", name: HOSTILE})
        assert done.returncode == 2, done.stderr
        assert not [*repository.rglob("owned")]


def test_no_script_holds_an_expression() -> None:
    scripts = [step.get("run", "") for step in ACTION["runs"]["steps"]] + GITLAB["script"]
    assert [script for script in scripts if "${{" in script or "$[[" in script] == []


def test_a_base_that_is_none_is_refused_before_anything_is_built(
    steelyard: Steelyard, repository: Path
) -> None:
    for base in ("no-such-branch", "--upload-pack=touch owned", "a:b"):
        done = action(steelyard, **{**ASKED, "base": base})
        assert done.returncode == 3, done.stderr
        assert "base-not-found" in done.stderr
    assert not [*repository.rglob("owned")]
    assert not (repository / "built").exists()


def test_a_build_that_fails_is_an_error_of_its_own(steelyard: Steelyard, repository: Path) -> None:
    done = action(steelyard, **{**ASKED, "build": "echo no compiler; exit 7"})
    assert done.returncode == 3, done.stderr
    assert "no compiler" in done.stderr
    assert "build-failed" in done.stderr


def test_what_the_guide_gives_and_what_fails_a_gate_is_known() -> None:
    blocks = re.findall(r"```yaml\n(.*?)```", GUIDE, re.DOTALL)
    jobs = [YAMLS.load(block) for block in blocks]
    (workflow,) = (job for job in jobs if job.get("name") == "Performance")
    (included,) = (job["include"][0] for job in jobs if "include" in job)
    used = workflow["jobs"]["gate"]["steps"][-1]["with"]
    assert set(used) <= set(ACTION["inputs"])
    assert set(included["inputs"]) <= set(INPUTS["spec"]["inputs"])
    for default in (
        ACTION["inputs"]["fail-if"]["default"],
        INPUTS["spec"]["inputs"]["fail-if"]["default"],
    ):
        assert set(default.split()) <= {word.value for word in FailIf}
