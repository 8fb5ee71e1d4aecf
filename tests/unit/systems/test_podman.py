"""The words that make a container, and what Podman's answers are read as."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.unit.hosts.stand_in import Machine, runs, said

from steelyard.engine.messages import Ran
from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.undo.actions.podman import RemoveImageName
from steelyard.hosts.undo.log import UndoLog
from steelyard.records.ledger import Ledger
from steelyard.study.model import SystemSpec
from steelyard.study.platform.settings import PodmanSettings
from steelyard.systems.confinement import cgroup_folder
from steelyard.systems.images.tree import is_tree
from steelyard.systems.platform import InstanceContext
from steelyard.systems.podman.argv import Running, run_argv
from steelyard.systems.podman.image import image_name, provide
from steelyard.systems.podman.proofs import prove_new, upper_folder
from steelyard.systems.podman.tool import Tool, read_container, read_info, read_limits

LIMITS = """\
Limit                     Soft Limit           Hard Limit           Units
Max cpu time              unlimited            unlimited            seconds
Max processes             96365                96365                processes
Max open files            1024                 20000                files
"""


def words(**changes: Any) -> list[str]:
    made: dict[str, Any] = {
        "name": "steelyard-7-a-1",
        "mark": "0123",
        "image": "localhost/steelyard-7-a-1:latest",
        "engine": "/opt/engine",
        "notes": "/run/place",
        "network": "ns:/run/netns/steelyard-7-a-1",
        "settings": PodmanSettings(),
        "limits": {},
    }
    return run_argv(Running(**(made | changes)))


def test_the_agent_is_the_containers_own_process_on_an_open_stdin() -> None:
    line = words()
    assert line[:2] == ["run", "--interactive"]
    assert '--entrypoint=["/.steelyard/engine"]' in line
    assert line[-2:] == ["localhost/steelyard-7-a-1:latest", "agent"]


def test_the_engine_is_bound_read_only_and_the_image_is_never_fetched() -> None:
    assert "--volume=/opt/engine:/.steelyard/engine:ro" in words()
    assert "--pull=never" in words()


def test_limits_of_the_system_become_limits_of_the_container() -> None:
    line = words(settings=PodmanSettings(cpus=2, memory=1 << 30, cpuset="0-1", pids=99))
    wanted = {"--cpus=2", "--memory=1073741824b", "--cpuset-cpus=0-1", "--pids-limit=99"}
    assert wanted <= set(line)


def test_what_is_not_set_limits_nothing() -> None:
    assert not [word for word in words() if word.startswith(("--cpus", "--memory", "--pids"))]


def test_a_container_is_given_no_more_than_the_machine_may_have() -> None:
    assert read_limits(LIMITS) == {"nofile": 20000, "nproc": 32768}
    assert "--ulimit=nofile=20000:20000" in words(limits=read_limits(LIMITS))


def test_an_unlimited_machine_limits_nothing() -> None:
    told = "Max processes   unlimited   unlimited   processes\n"
    assert read_limits(told) == {}


def test_a_container_knows_its_own_name_and_asks_no_one_who_cannot_answer() -> None:
    assert {"--hostname=steelyard-7-a-1", "--add-host=steelyard-7-a-1:127.0.0.1"} <= set(words())
    assert "--dns=127.0.0.1" in words()
    assert "--dns=127.0.0.1" not in words(network="host")
    long = next(word for word in words(name="steelyard-" + 80 * "b") if "--hostname" in word)
    assert len(long.partition("=")[2]) == 63


def test_only_a_system_with_disks_may_mount_and_use_loop_devices() -> None:
    assert "--cap-add=SYS_ADMIN" not in words()
    assert {"--cap-add=SYS_ADMIN", "--device-cgroup-rule=b 7:* rwm"} <= set(words(with_disks=True))


def test_a_volume_lies_where_the_service_keeps_its_files() -> None:
    assert "--volume=/srv/run/volume:/var/lib/steelyard" in words(volume="/srv/run/volume")


@pytest.mark.parametrize(
    "image", ["/srv/root.tar", "./root", "root.tar.gz", "a/root.tgz", "my.yaml"]
)
def test_a_path_is_a_tree(image: str) -> None:
    assert is_tree(image)


@pytest.mark.parametrize("image", ["debian:12", "localhost/mine", "docker.io/library/nginx"])
def test_a_reference_is_no_tree(image: str) -> None:
    assert not is_tree(image)


def test_the_name_of_an_image_has_small_letters_only() -> None:
    assert image_name("steelyard-7-Fast-1") == "localhost/steelyard-7-fast-1:latest"


def test_a_container_of_somebody_else_has_no_mark() -> None:
    seen = read_container(
        {
            "Id": "ab",
            "State": {"Pid": 0, "Running": False, "StartedAt": "", "ExitCode": 1},
            "Config": {"Labels": None},
            "Image": "cd",
        }
    )
    assert seen.mark is None


OVERLAID = """\
812 760 0:61 / /proc rw - proc proc rw
760 700 0:52 / / rw,relatime - overlay overlay rw,lowerdir=/s/l/A,upperdir=/s/7/diff,workdir=/s/7/w
"""


def test_what_was_written_to_a_container_is_found_where_the_kernel_keeps_it() -> None:
    assert upper_folder(OVERLAID) == "/s/7/diff"
    assert upper_folder("760 700 8:1 / / rw - ext4 /dev/sda1 rw\n") is None
    assert upper_folder(OVERLAID.replace("=/s/7/diff", "=7/diff")) is None


def test_the_same_container_or_one_that_was_written_to_is_no_new_one() -> None:
    machine = Machine(tools={"find": lambda _: said(stdout="0\n3\n")})
    machine.files["/proc/7/mountinfo"] = OVERLAID
    for before, now in (("a", "a"), ("a", "b")):
        with pytest.raises(SystemFailure) as refused:
            prove_new(machine.host(), "steelyard-x", before, now, "7")
        assert refused.value.kind == "reset_not_proved"
    machine.tools["find"] = lambda _: said(stdout="0\n")
    assert prove_new(machine.host(), "steelyard-x", "a", "b", "7")["overlay.bytes"] == "0"


def test_what_podman_says_of_itself_is_read() -> None:
    info = read_info(
        {
            "version": {"Version": "4.3.1"},
            "host": {
                "ociRuntime": {"name": "crun"},
                "cgroupVersion": "v1",
                "security": {"rootless": True},
            },
            "store": {"graphDriverName": "overlay"},
        }
    )
    assert (info.runtime, info.cgroup_version, info.rootless) == ("crun", "v1", True)


MOUNTS = """\
cgroup /sys/fs/cgroup/cpuacct cgroup rw,cpuacct 0 0
cgroup /sys/fs/cgroup/memory cgroup rw,memory 0 0
cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0
"""


@pytest.mark.parametrize(
    ("mounts", "told", "folder"),
    [
        ("cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n", "0::/a.slice/b\n", "/sys/fs/cgroup/a.slice/b"),
        (MOUNTS, "4:memory:/m\n2:cpuacct:/c\n0::/u\n", "/sys/fs/cgroup/cpuacct/c"),
        (MOUNTS, "4:memory:/m\n2:cpuacct:/\n0::/u\n", None),
        ("", "0::/a\n", None),
    ],
)
def test_the_cgroup_is_the_one_that_accounts_processor_time_and_not_the_whole_machines(
    mounts: str, told: str, folder: str | None
) -> None:
    assert cgroup_folder(mounts, told) == folder


class Slow(Machine):
    """Its Podman answers after four minutes."""

    def run(self, argv: list[str], *, timeout_s: float = 30.0, **more: Any) -> Ran:
        ran = super().run(argv, **more)
        return ran if timeout_s > 240 else ran.model_copy(update={"timed_out": True})


def test_podman_may_take_its_time_on_a_busy_machine() -> None:
    machine = Slow()
    info = {
        "version": {"Version": "4.3.1"},
        "host": {
            "ociRuntime": {"name": "runc"},
            "cgroupVersion": "v2",
            "security": {"rootless": False},
        },
        "store": {"graphDriverName": "overlay"},
    }
    machine.tools["podman info"] = lambda _: said(stdout=json.dumps(info))
    missing = "Error: no such container a"
    machine.tools["podman container inspect"] = lambda _: said(125, stderr=missing)
    tool = Tool(machine.host)
    assert tool.info.runtime == "runc"
    assert tool.succeeds("image", "exists", "a")
    assert tool.container("a") is None


def test_an_image_that_is_gone_before_it_was_tagged_is_imported(
    tmp_path: Path,
) -> None:
    machine = Machine()
    machine.tools["podman images"] = lambda _: said(stdout="sha256:1\n")
    machine.tools["podman tag"] = lambda _: said(125, stderr="image not known")
    spec = SystemSpec(name="a", platform="podman")
    with Ledger(tmp_path / "ledger.jsonl") as ledger:
        undo = UndoLog(ledger)
        context = InstanceContext(spec, 1, "steelyard-7-a-1", machine.host, undo, "/run/place")
        name, planned = provide(context, Tool(machine.host))
    assert planned is not None
    assert runs(machine)[-1].startswith("podman import ")
    assert runs(machine)[-1].endswith(name)


def test_an_empty_image_that_podman_does_not_import_is_a_failure_of_podman(tmp_path: Path) -> None:
    machine, spec = Machine(), SystemSpec(name="a", platform="podman")
    machine.tools["podman import"] = lambda _: said(125)
    with Ledger(tmp_path / "ledger.jsonl") as ledger:
        undo = UndoLog(ledger)
        context = InstanceContext(spec, 1, "steelyard-7-a-1", machine.host, undo, "/run/place")
        with pytest.raises(SystemFailure) as caught:
            provide(context, Tool(machine.host))
    assert caught.value.kind == "tool_failed"


def test_runs_share_no_image_that_they_import(tmp_path: Path) -> None:
    machine, spec = Machine(), SystemSpec(name="a", platform="podman")
    with Ledger(tmp_path / "ledger.jsonl") as ledger:
        undo = UndoLog(ledger)
        for label in ("steelyard-7-a-1", "steelyard-7-a-2", "steelyard-8-a-1"):
            context = InstanceContext(spec, 1, label, machine.host, undo, "/run/place")
            provide(context, Tool(machine.host))
    asked = [line.split()[-1] for line in runs(machine) if line.startswith("podman images")]
    assert asked[0] == asked[1] != asked[2]


def test_names_are_put_on_an_image_and_taken_off_one_at_a_time(tmp_path: Path) -> None:
    """Podman reads all names of an image and writes them again, as this one does."""
    names: set[str] = set()

    def written_again(change: Callable[[set[str]], set[str]]) -> Ran:
        nonlocal names
        read = set(names)
        time.sleep(0.005)
        names = change(read)
        return said()

    podman = Machine(
        tools={
            "podman images": lambda _: said(stdout="0123\n"),
            "podman tag": lambda argv: written_again(lambda read: read | {argv[-1]}),
            "podman rmi": lambda argv: written_again(lambda read: read - {argv[-1]}),
            "podman image exists": lambda argv: said(0 if argv[-1] in names else 1),
        }
    ).host()
    with Ledger(tmp_path / "ledger.jsonl") as ledger, ThreadPoolExecutor(4) as pool:
        undo, spec = UndoLog(ledger), SystemSpec(name="a", platform="podman")
        places = [
            InstanceContext(spec, n, f"steelyard-7-a-{n}", lambda: podman, undo, "/run/place")
            for n in range(8)
        ]
        given = [name for name, _ in pool.map(lambda at: provide(at, Tool(lambda: podman)), places)]
        assert names == set(given)
        assert len(names) == 8
        list(pool.map(lambda name: RemoveImageName(name).apply(podman), given[:4]))
        assert names == set(given[4:])
