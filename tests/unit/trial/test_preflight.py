"""What a study needs and a machine does not have is one list, before anything is started."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from steelyard.engine.messages import AgentRefusal, Failure
from steelyard.hosts.clocks import WallOffset
from steelyard.hosts.failures import FailureKind, SystemFailure
from steelyard.hosts.host import Host
from steelyard.plan.make import make_plan
from steelyard.study.file.places import StudyPlaces
from steelyard.study.read import read_study_bytes
from steelyard.trial.preflight import Preflight
from steelyard.trial.shortfall import Shortfall, missing_before_start

STUDY = """\
study: lacks
question: What is missing?
systems:
  a:
    platform: native
    {OF_A}
  b: {platform: native, service: {use: sink-smtp}}
baseline: a
workload: {use: smtp}
load: {users: [1]}
trials: {margin: 20 %, budget: {trials: 40}}
"""
POSTFIX = "service: {use: postfix}"
SWAPPINESS = "/proc/sys/vm/swappiness"
HUGE_PAGES = "/sys/kernel/mm/transparent_hugepage/enabled"


@dataclass
class Machine:
    """Stands in for a machine: its files, programs and user; every command that it was given."""

    files: dict[str, str] = field(default_factory=dict)
    programs: tuple[str, ...] = ()
    uid: int = 0
    free_bytes: int = 1 << 40
    writable: bool = True
    name: str = "local"
    ahead_ns: int = 0
    cpus: str = "0-1"
    fails: str = ""
    """Of `test`, the word that fails."""
    commands: list[list[str]] = field(default_factory=list)

    def wall_offset(self) -> WallOffset:
        return WallOffset(self.ahead_ns, 1_000)

    def path_facts(self, path: str) -> SimpleNamespace:
        there = any(each == path or each.startswith(f"{path}/") for each in self.files)
        kind = None if not there else "file" if path in self.files else "folder"
        return SimpleNamespace(exists=there, free_bytes=self.free_bytes, kind=kind)

    def read_file(self, path: str) -> str:
        return self.files[path]

    def run(self, argv: list[str], **_: object) -> SimpleNamespace:
        self.commands.append(argv)
        said, good = "", True
        if argv[:2] == ["sh", "-c"] and "/queue/scheduler" in argv[2]:
            said = "\n".join(text for path, text in self.files.items() if "scheduler" in path)
        elif argv[:2] == ["sh", "-c"] and "docker version" in argv[2]:
            good = self.writable
        elif argv[:2] == ["sh", "-c"]:
            found = [name if name in self.programs else "" for name in argv[4:]]
            said = "\n".join([str(self.uid), "someone", "somegroup", "2", *found, ""])
        elif argv[0] == "find":
            said = "\n".join(path for path in self.files if path.startswith(argv[1]))
        elif argv[0] == "taskset":
            said = f"Cpus_allowed_list:\t{self.cpus}\n"
        elif argv[:2] == ["test", "-w"]:
            good = self.writable
        elif argv[:2] in (["test", "-f"], ["test", "-x"]):
            good = argv[1] not in self.fails
        else:
            good = argv[0] != "modprobe"
        return SimpleNamespace(
            stdout=said, stderr="", succeeded=good, exit_code=int(not good), timed_out=False
        )


def places_and_list(of_a: str, machine: Machine) -> tuple[StudyPlaces, list[Shortfall]]:
    raw, path = STUDY.replace("{OF_A}", of_a).encode(), Path("study.yaml")
    study = read_study_bytes(raw, path)
    cells = [trial.cell for visit in make_plan(study, 1).every_visit for trial in visit.trials]
    look = Preflight(study, lambda _: cast(Host, machine), "/results", "/studies")
    return StudyPlaces.of(raw, path, None), look.look(cells)


LISTENING = "sl local rem st\n0: 0100007F:1F90 00000000:0000 0A"
MAIL = ("postfix", "/usr/lib/postfix/sbin/master", "openssl")


@pytest.mark.parametrize(
    ("of_a", "machine", "key", "word"),
    [
        (POSTFIX, Machine(), "service", "postfix"),
        (POSTFIX, Machine(programs=MAIL, uid=1000), "service", "root"),
        (
            "service: {use: postfix, port: 8080}",
            Machine(programs=MAIL, files={"/proc/net/tcp": LISTENING}),
            "service",
            "8080",
        ),
        (
            "settings: {sysctl: {vm.swapiness: 10}}\n    service: {use: sink-smtp}",
            Machine(files={SWAPPINESS: "60"}),
            "settings.sysctl.vm.swapiness",
            "swapiness",
        ),
        (
            "settings: {thp: never}\n    service: {use: sink-smtp}",
            Machine(files={HUGE_PAGES: "[always] never"}, writable=False),
            "settings.thp",
            "not writable",
        ),
        (
            "settings: {thp: madvise}\n    service: {use: sink-smtp}",
            Machine(files={HUGE_PAGES: "[always] never"}),
            "settings.thp",
            "madvise",
        ),
        (
            "settings: {governor: performance}\n    service: {use: sink-smtp}",
            Machine(),
            "settings.governor",
            "scaling_governor",
        ),
        (
            "settings: {module.bfq: loaded}\n    service: {use: sink-smtp}",
            Machine(),
            "settings.module.bfq",
            "bfq",
        ),
        (
            "settings: {tuned: powersave}\n    service: {use: sink-smtp}",
            Machine(),
            "settings.tuned",
            "tuned",
        ),
        (
            "disks: {data: {filesystem: jfs}}\n    service: {use: sink-smtp}",
            Machine(files={"/proc/filesystems": "ext4"}),
            "disks.data",
            "jfs",
        ),
        (
            "disks: {data: {filesystem: xfs}}\n    service: {use: sink-smtp}",
            Machine(files={"/proc/filesystems": "xfs"}, programs=("losetup", "mount")),
            "disks.data",
            "mkfs.xfs",
        ),
        (
            "disks: {data: {size: 2 GiB}}\n    service: {use: sink-smtp}",
            Machine(
                files={"/proc/filesystems": "ext4"},
                programs=("losetup", "mount", "mkfs.ext4", "e2fsck"),
                free_bytes=1 << 30,
            ),
            "disks.data",
            "free",
        ),
        (
            "confine: {cpuset: 0-7}\n    service: {use: sink-smtp}",
            Machine(cpus="0-1"),
            "confine",
            "0-1",
        ),
        (
            "settings: {tuned: no-such}\n    service: {use: sink-smtp}",
            Machine(programs=("tuned",)),
            "settings.tuned",
            "no-such",
        ),
        (
            "settings: {tuned: fast}\n    service: {use: sink-smtp}",
            Machine(
                programs=("tuned",),
                files={"/usr/lib/tuned/fast/tuned.conf": "[main]\ninclude=gone\n"},
            ),
            "settings.tuned",
            "gone",
        ),
        (
            "settings: {sysctl: {vm.swappiness: many}}\n    service: {use: sink-smtp}",
            Machine(files={SWAPPINESS: "60"}),
            "settings.sysctl.vm.swappiness",
            "many",
        ),
        (
            "settings: {sysctl: {vm: 1}}\n    service: {use: sink-smtp}",
            Machine(files={SWAPPINESS: "60"}),
            "settings.sysctl.vm",
            "folder",
        ),
        (
            "settings: {scheduler: cfq}\n    service: {use: sink-smtp}",
            Machine(files={"/sys/block/vda/queue/scheduler": "[none] bfq"}),
            "settings.scheduler",
            "cfq",
        ),
        (
            "settings: {command_line: quiet nosmt}\n    service: {use: sink-smtp}",
            Machine(files={"/proc/cmdline": "quiet\n"}),
            "settings.command_line",
            "`nosmt`",
        ),
    ],
    ids=[
        *("program", "root", "port", "sysctl", "rights", "level", "governor", "module"),
        *("tuned", "filesystem", "mkfs", "space", "cpus"),
        *("profile", "included", "words", "folder", "scheduler", "kernel"),
    ],
)
def test_what_is_missing_is_listed_with_its_place(
    of_a: str, machine: Machine, key: str, word: str
) -> None:
    places, found = places_and_list(of_a, machine)
    assert [(one.machine, one.system, one.key) for one in found] == [("local", "a", key)]
    assert word in found[0].cause
    assert found[0].remedy
    assert places.line_of("a", key).startswith("study.yaml:6:")


def test_an_array_names_the_package_of_its_tool() -> None:
    disk = "disks: {data: {count: 2, layout: raid1}}\n    service: {use: sink-smtp}"
    _, found = places_and_list(disk, Machine(files={"/proc/filesystems": "ext4"}))
    assert "mdadm" in str(found[0].remedy)


def test_results_without_room_are_missing_before_the_first_trial() -> None:
    _, found = places_and_list("service: {use: sink-smtp}", Machine(free_bytes=63 << 20))
    assert [(one.machine, one.key) for one in found] == [("local", "platform")]


@pytest.mark.parametrize("word", ["{study}/wc", "/studies/wc", "wc"])
def test_the_program_of_a_command_is_looked_for(word: str) -> None:
    raw = STUDY.replace("{OF_A}", "").replace("{use: smtp}", f'{{command: ["{word}"]}}')
    raw = raw.replace(", service: {use: sink-smtp}", "").replace("load: {users: [1]}\n", "")
    study = read_study_bytes(raw.encode(), Path("study.yaml"))
    cells = [trial.cell for visit in make_plan(study, 1).every_visit for trial in visit.trials]
    for there in (True, False):
        machine = Machine(programs=("/studies/wc", "wc") if there else ())
        look = Preflight(study, lambda _, m=machine: cast(Host, m), "/results", "/studies")  # type: ignore[misc]
        assert [one.key for one in look.look(cells)] == ([] if there else ["workload"])


@pytest.mark.parametrize("fails", ["", "-f", "-x"])
def test_a_path_that_cannot_be_run_is_missing(fails: str) -> None:
    raw = STUDY.replace("{OF_A}", "").replace("{use: smtp}", "{command: [/opt/tool]}")
    raw = raw.replace(", service: {use: sink-smtp}", "").replace("load: {users: [1]}\n", "")
    study = read_study_bytes(raw.encode(), Path("study.yaml"))
    cells = [trial.cell for visit in make_plan(study, 1).every_visit for trial in visit.trials]
    machine = Machine(programs=("/opt/tool",), fails=fails)
    look = Preflight(study, lambda _: cast("Host", machine), "/results", "/studies")
    assert [one.key for one in look.look(cells)] == (["workload"] if fails else [])


@pytest.mark.parametrize(
    ("platform", "machine", "word"),
    [
        ("docker, image: debian", Machine(), "needs docker"),
        ("docker, image: debian", Machine(programs=("docker",), writable=False), "daemon"),
        ("docker, image: debian", Machine(programs=("docker",)), None),
        ("virtualbox, image: /a.vdi", Machine(), "needs VBoxManage"),
        ("virtualbox, image: /a.vdi", Machine(programs=("VBoxManage",)), None),
    ],
)
def test_the_tools_of_a_platform_are_looked_for(
    platform: str, machine: Machine, word: str | None
) -> None:
    text = STUDY.replace("b: {platform: native,", f"b: {{platform: {platform},")
    text = text.replace("{OF_A}", "service: {use: sink-smtp}")
    study = read_study_bytes(text.encode(), Path("study.yaml"))
    cells = [trial.cell for visit in make_plan(study, 1).every_visit for trial in visit.trials]
    found = Preflight(study, lambda _: cast("Host", machine), "/", "/").look(cells)
    assert [one.key for one in found] == ([] if word is None else ["image"])
    assert all(str(word) in one.cause for one in found)


def test_a_list_of_ports_is_a_value_of_a_parameter_that_has_one_now() -> None:
    wanted = 'settings: {sysctl: {net.ipv4.ip_local_reserved_ports: "8080,9000-9010"}}'
    machine = Machine(files={"/proc/sys/net/ipv4/ip_local_reserved_ports": "8080"})
    _, found = places_and_list(f"{wanted}\n    service: {{use: sink-smtp}}", machine)
    assert not found


def test_nothing_is_listed_where_all_is_there_and_nothing_is_changed() -> None:
    machine = Machine(files={HUGE_PAGES: "[always] never", SWAPPINESS: "60"}, programs=MAIL)
    settings = "settings: {thp: never, sysctl: {vm.swappiness: 10}}"
    _, found = places_and_list(f"{settings}\n    {POSTFIX}", machine)
    assert not found
    assert {argv[0] for argv in machine.commands} <= {"sh", "test", "find"}


def test_a_parameter_that_a_module_may_bring_is_not_called_missing() -> None:
    machine = Machine(files={"/sys/module/tcp_bbr": ""})
    wanted = "settings: {module.tcp_bbr: loaded, sysctl: {net.ipv4.brought: 1}}"
    _, found = places_and_list(f"{wanted}\n    service: {{use: sink-smtp}}", machine)
    assert not found


def test_a_server_in_a_container_without_an_image_gets_the_name_of_one_that_has_it() -> None:
    text = STUDY.replace("platform: native\n", "platform: podman\n")
    study = read_study_bytes(text.replace("{OF_A}", POSTFIX).encode(), Path("study.yaml"))
    cells = [trial.cell for visit in make_plan(study, 1).every_visit for trial in visit.trials]
    (found,) = Preflight(study, lambda _: cast(Host, Machine()), "/", "/").look(cells)
    assert found.key == "service"
    assert "steelyard image build debian-mail" in str(found.remedy)


@pytest.mark.parametrize(
    ("kind", "listed", "unreachable"),
    [("no_rights", ["generator.host"], []), ("unreachable", [], ["ssh://right"])],
)
def test_each_of_several_generators_is_looked_at(
    kind: FailureKind, listed: list[str], unreachable: list[str]
) -> None:
    def at(address: str) -> Host:
        if address == "ssh://right":
            raise SystemFailure(kind, f"{address} is closed", "open it")
        return cast("Host", Machine())

    text = STUDY.replace("{OF_A}", "service: {use: sink-smtp}")
    text += "generator: {host: [ssh://left, ssh://right]}\n"
    study = read_study_bytes(text.encode(), Path("study.yaml"))
    look = Preflight(study, at, "/results", "/studies")
    cells = [trial.cell for visit in make_plan(study, 1).visits for trial in visit.trials]
    assert [one.key for one in look.look(cells)] == listed
    assert list(look.unreachable) == unreachable


BOARD = """\
study: board
question: What does the board lack?
systems:
  here: {platform: native}
  board: {platform: ssh, host: board{OF_IT}}
baseline: here
workload: {WORKLOAD}
trials: {margin: 20 %, budget: {trials: 40}}
"""
ECHO = "{command: [echo]}"
FILES = {"/mnt/usb/file": "", SWAPPINESS: "60"}


@pytest.mark.parametrize(
    ("of_it", "workload", "machine", "key", "word"),
    [
        ("", "{use: fio}", Machine(), "workload", "fio"),
        (
            ", settings: {sysctl: {vm.swapiness: 10}}",
            ECHO,
            Machine(files=FILES),
            "settings.sysctl.vm.swapiness",
            "swapiness",
        ),
        (
            ", disks: {data: {folder: /mnt/usb, size: 2 GiB}}",
            "{command: [touch, '{mount}/file']}",
            Machine(files=FILES, free_bytes=1 << 30),
            "disks.data",
            "1 GiB free",
        ),
        ("", ECHO, Machine(free_bytes=1 << 20), "platform", "/var/tmp"),
    ],
)
def test_what_a_machine_behind_ssh_lacks_is_found_there(
    of_it: str, workload: str, machine: Machine, key: str, word: str
) -> None:
    whole = Machine(files=FILES, programs=("fio", "echo", "touch"))
    machine.programs, machine.name = ("echo", "touch"), "ssh://board"
    text = BOARD.replace("{OF_IT}", of_it).replace("{WORKLOAD}", workload)
    study = read_study_bytes(text.encode(), Path("study.yaml"))
    cells = [trial.cell for visit in make_plan(study, 1).every_visit for trial in visit.trials]
    at = {"ssh://board": machine, "local": whole}
    look = Preflight(study, lambda name: cast("Host", at[name]), "/results", "/studies")
    (found,) = look.look(cells)
    assert (found.machine, found.system, found.key) == ("ssh://board", "board", key)
    assert word in found.cause
    assert found.remedy


EVENT = """\
events:
  moved: {command: [sync], at: 3 s, within: 1 s, late: 50 ms, on: ssh://nas.invalid}
responses: {event.moved.duration: {primary: true}}
trials: {margin: 20 %, window: 20 s, budget: {trials: 40}}
"""


def test_the_machine_of_an_event_that_cannot_be_reached_is_missing() -> None:
    def at(address: str) -> Host:
        if address == "ssh://nas.invalid":
            raise SystemFailure("unreachable", f"{address}: its name has no address")
        return cast("Host", Machine())

    text = STUDY.replace("{OF_A}", "service: {use: sink-smtp}")
    raw = (text.partition("trials:")[0] + EVENT).encode()
    study = read_study_bytes(raw, Path("study.yaml"))
    cells = [trial.cell for visit in make_plan(study, 1).visits for trial in visit.trials]
    (found,) = Preflight(study, at, "/results", "/studies").look(cells)
    assert (found.machine, found.key) == ("ssh://nas.invalid", "events.moved.on")
    assert "its name has no address" in found.cause
    places = StudyPlaces.of(raw, Path("study.yaml"), None)
    assert places.line_of(found.system, found.key).startswith("study.yaml:12:")


@pytest.mark.parametrize(
    ("memory", "more", "listed"),
    [("3 GiB", "", []), ("4 GiB", "", ["memory"]), ("4 GiB", "SwapTotal: 2097152 kB\n", [])],
)
def test_a_guest_has_no_more_memory_than_its_machine(
    memory: str, more: str, listed: list[str]
) -> None:
    guest = f"disk_bus: virtio\n    memory: {memory}\n    service: {{use: sink-smtp}}"
    text = STUDY.replace("platform: native\n", "platform: qemu\n").replace("{OF_A}", guest)
    study = read_study_bytes(text.encode(), Path("study.yaml"))
    cells = [trial.cell for visit in make_plan(study, 1).visits for trial in visit.trials]
    machine = Machine(files={"/proc/meminfo": f"MemTotal:  3670016 kB\nMemFree:  1 kB\n{more}"})
    found = Preflight(study, lambda _: cast("Host", machine), "/", "/").look(cells)
    assert [one.key for one in found if one.key != "image"] == listed


SECURED = """\
study: secured
question: Whose certificate holds?
systems:
  a: {platform: native, host_machine: ssh://sut, service: {use: nginx, tls: implicit}}
  b: {platform: native, host_machine: ssh://sut, service: {use: nginx, tls: implicit, workers: 2}}
baseline: a
workload: {use: http, tls: implicit, certificate: verified}
load: {users: [1]}
generator: {host: ssh://loader}
trials: {margin: 20 %, budget: {trials: 40}}
"""
MINUTES_NS = 60 * 10**9


@pytest.mark.parametrize(
    ("sut_ns", "loader_ns", "certificate", "valid"),
    [
        (0, 0, "verified", True),
        (5 * MINUTES_NS, 5 * MINUTES_NS, "verified", True),
        (-5 * MINUTES_NS, 0, "verified", True),
        (5 * MINUTES_NS, 0, "verified", False),
        (0, -5 * MINUTES_NS, "verified", False),
        (5 * MINUTES_NS, 0, "any", True),
        (-31 * 24 * 60 * MINUTES_NS, 0, "verified", False),
    ],
)
def test_a_certificate_that_the_generator_would_not_take_for_its_clock_is_refused(
    sut_ns: int, loader_ns: int, certificate: str, valid: bool
) -> None:
    ahead = {"ssh://sut": sut_ns, "ssh://loader": loader_ns}

    def at(address: str) -> Host:
        return cast("Host", Machine(programs=("nginx", "openssl"), ahead_ns=ahead.get(address, 0)))

    text = SECURED.replace("certificate: verified", f"certificate: {certificate}")
    study = read_study_bytes(text.encode(), Path("study.yaml"))
    look = Preflight(study, at, "/results", "/studies")
    cells = [trial.cell for visit in make_plan(study, 1).visits for trial in visit.trials]
    found = [one for one in look.look(cells) if "certificate" in one.cause]
    assert [(one.machine, one.key) for one in found] == (
        [] if valid else [("ssh://loader", "service")]
    )
    assert all("ssh://sut" in one.cause and one.remedy for one in found)
    assert {name: wall.ahead_ns for name, wall in look.walls.items()} == ahead


class Refusing(Machine):
    """Its agent refuses to look at whatever is no path."""

    def path_facts(self, path: str) -> SimpleNamespace:
        if not path.startswith("/"):
            raise AgentRefusal("path_facts", Failure(kind="invalid", message=f"no path: {path}"))
        return super().path_facts(path)

    def read_file(self, path: str) -> str:
        raise AgentRefusal("read_file", Failure(kind="not_found", message=f"no file: {path}"))


def test_a_refused_question_is_listed_and_all_others_are_asked() -> None:
    settings = "settings: {sysctl: {vm.swapiness: 10}}\n    service: {use: sink-smtp}"
    disk = "disks: {data: {filesystem: jfs}}\n    " + settings
    text = STUDY.replace("{OF_A}", disk).replace(
        "b: {platform: native,", "b: {platform: nspawn, image: nope,"
    )
    study = read_study_bytes(text.encode(), Path("study.yaml"))
    cells = [trial.cell for visit in make_plan(study, 1).every_visit for trial in visit.trials]
    machine = Refusing(files={SWAPPINESS: "60"})
    look = Preflight(study, lambda _: cast("Host", machine), "/results", "/studies")
    found = {(one.system, one.key): one.cause for one in look.look(cells)}
    assert set(found) == {
        ("a", "disks.data"),
        ("a", "settings.sysctl.vm.swapiness"),
        ("b", "image"),
    }
    assert "no file: /proc/filesystems" in found["a", "disks.data"]
    assert not look.unreachable


def test_several_are_one_error_with_a_line_each() -> None:
    both = f"settings: {{sysctl: {{vm.swapiness: 10}}}}\n    {POSTFIX}"
    places, found = places_and_list(both, Machine())
    assert len(found) == 2
    lines = missing_before_start(found, places).message.splitlines()
    assert [line.split(":")[:2] for line in lines[1:]] == [["study.yaml", "7"], ["study.yaml", "6"]]
