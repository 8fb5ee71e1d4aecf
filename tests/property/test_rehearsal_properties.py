"""Whatever a study asks for is in the list of what its run would do, gone through on no machine."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.cli.session.new_run import new_run
from steelyard.plan.make import make_plan
from steelyard.study.model import Study
from steelyard.study.read import read_study_bytes
from steelyard.trial.rehearsal.session import PHASES, rehearse
from steelyard.trial.rehearsal.steps import Step

EXAMPLES = int(os.environ.get("STEELYARD_REHEARSALS", "60"))
STUDY = """\
study: generated
question: What would be done?
systems:
  a: {SYSTEM}
  b: {platform: native, service: {use: sink-smtp}}
baseline: b
workload: {use: smtp}
load: {users: [1, 2]}
CACHES
trials: {margin: 20 %, reset: service, budget: {trials: 20}}
"""
SYSCTLS = st.dictionaries(
    st.sampled_from(["vm.swappiness", "vm.vfs_cache_pressure", "net.core.somaxconn"]),
    st.integers(1, 90),
    max_size=3,
)
LEVELS = {
    "thp": ["always", "never", "madvise"],
    "governor": ["performance", "powersave"],
    "cgroup.memory": ["256 MiB"],
    "module.dummy": ["loaded"],
}
CHOSEN = st.fixed_dictionaries({}, optional={k: st.sampled_from(v) for k, v in LEVELS.items()})
DISKS = st.dictionaries(
    st.sampled_from(["data", "log"]),
    st.fixed_dictionaries(
        {"filesystem": st.sampled_from(["ext4", "xfs", "btrfs"]), "size": st.just("320 MiB")},
        optional={
            "count": st.just(2),
            "mkfs": st.sampled_from(["-q", "-K"]),
            "mount": st.sampled_from(["noatime", "ro,noatime"]),
        },
    ),
    max_size=2,
)
SERVERS = st.sampled_from(["sink-smtp", "postfix"])


def written(value: Any) -> str:
    """Of YAML, in one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {written(each)}" for key, each in value.items()) + "}"
    return f'"{value}"' if isinstance(value, str) and "," in value else str(value)


def nested(flat: dict[str, str]) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for name, level in flat.items():
        family, _, key = name.partition(".")
        if key:
            tree.setdefault(family, {})[key] = level
        else:
            tree[family] = level
    return tree


def steps_of(text: str) -> tuple[Study, list[Step]]:
    study = read_study_bytes(text.encode(), Path("study.yaml"))
    plan = make_plan(study, 1)
    with TemporaryDirectory() as folder:
        file = Path(folder) / "study.yaml"
        file.write_text(text, encoding="utf-8")
        run = new_run(file, study, plan, Path(folder) / "results")
        return study, rehearse(study, plan, run, Path("/results/run"), lambda *_: None)


@settings(max_examples=EXAMPLES, deadline=None)
@given(
    platform=st.sampled_from(["native", "nspawn"]),
    server=SERVERS,
    sysctls=SYSCTLS,
    chosen=CHOSEN,
    disks=DISKS,
    dropped=st.booleans(),
)
def test_every_setting_disk_and_server_of_a_study_is_a_step(
    *,
    platform: str,
    server: str,
    sysctls: dict[str, int],
    chosen: dict[str, str],
    disks: dict[str, dict[str, Any]],
    dropped: bool,
) -> None:
    system: dict[str, Any] = {"platform": platform, "service": {"use": server}}
    if platform == "native":
        system |= {"settings": {**nested(chosen), "sysctl": sysctls}} if sysctls else {}
        system |= {"disks": disks} if disks else {}
    text = STUDY.replace("{SYSTEM}", written(system))
    _, steps = steps_of(
        text.replace(
            "CACHES", "caches: dropped before every window, in guest and host" if dropped else ""
        )
    )
    assert [step.said for step in steps if step.kind == "not_known"] == []
    assert {step.phase for step in steps} <= set(PHASES)
    started = [step.words for step in steps if step.kind == "start" and step.systems == ("a",)]
    assert started
    assert any(step.kind == "drop_caches" for step in steps) == dropped
    if platform == "native":
        refuse_what_is_missing(steps, sysctls, disks)


def refuse_what_is_missing(
    steps: list[Step], sysctls: dict[str, int], disks: dict[str, dict[str, Any]]
) -> None:
    for name, level in sysctls.items():
        path = f"/proc/sys/{name.replace('.', '/')}"
        made = [s for s in steps if s.path == path and s.phase == "configure"]
        assert [step.then for step in made] == [str(level)]
        assert all(step.needs_root for step in made)
        assert [s for s in steps if s.path == path and s.phase == "undo"]
    for disk in disks.values():
        words = [step.words for step in steps if step.kind == "run" and step.needs_root]
        make = [each for each in words if each[0] == f"mkfs.{disk['filesystem']}"]
        assert any(disk.get("mkfs", "") in ("", *each) for each in make)
        mounts = [each for each in words if each[0] == "mount"]
        assert any(disk.get("mount", "") in ("", *each) for each in mounts)
        assert [each for each in words if each[0] == "umount"]
