"""What a command would say, and what it would change, where a run goes on from its answer."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from steelyard.systems.disks.check import TEST_FILE, WRITE_TEST_FILE
from steelyard.trial.rehearsal.ground import Ground

_NO_KERNEL = json.dumps(
    {"cpu_per_s": 1, "memory_bytes_per_s": 1, "disk_writes_per_s": 1, "disk_refused": None}
)
"""As the reference kernel says it, of figures that are not read."""


@dataclass(frozen=True)
class Answer:
    """What came of a command."""

    exit_code: int = 0
    stdout: str = ""

    def document(self) -> dict[str, Any]:
        """As an agent answers ``run``."""
        return {
            "signal": None,
            "stderr": "",
            "stdout_truncated": False,
            "stderr_truncated": False,
            "timed_out": False,
            "cancelled": False,
            "started_monotonic_ns": 0,
            "ended_monotonic_ns": 1,
            "user_ns": 0,
            "system_ns": 0,
            "max_rss_bytes": 0,
        } | asdict(self)


def answer_to(argv: Sequence[str], ground: Ground) -> Answer | None:
    """``None`` where the machine itself can be asked, or says nothing that matters."""
    if list(argv) == ["id", "-u"]:
        return Answer(stdout="0\n")  # a step that needs root says so
    if argv[2:3] == [WRITE_TEST_FILE]:
        ground.files[f"{argv[4]}/{TEST_FILE}"] = ""
        return Answer()
    by_program = _ANSWERS.get(argv[0])
    if by_program is not None:
        return by_program(argv, ground)
    if list(argv[1:3]) == ["kernel", "reference"]:
        return Answer(stdout=_NO_KERNEL)
    return _of_what_is_not_up(argv, ground)


_CPUS = "/sys/devices/system/cpu"


def _of_what_is_not_up(argv: Sequence[str], ground: Ground) -> Answer | None:
    """Of a system that is not up yet: root, one processor, every program by its name."""
    if ground.real is not None:
        return None
    if list(argv[:2]) != ["sh", "-c"]:
        return None
    if "SSH_CONNECTION" in argv[2]:
        return Answer(stdout="ADDRESS 0 ADDRESS 22\n")
    if "id -un" in argv[2]:
        return Answer(stdout="\n".join(["0", "root", "root", "1", *argv[4:]]) + "\n")
    return None


def _tested(argv: Sequence[str], ground: Ground) -> Answer | None:
    made = ground.exists(argv[-1])
    if made is None:
        return None
    return Answer(exit_code=int(made is ("!" in argv)))


def _losetup(argv: Sequence[str], ground: Ground) -> Answer:
    if "--find" in argv:
        device = ground.free_loop()
        ground.attach_loop(device, argv[-1])
        return Answer(stdout=f"{device}\n")
    if "--detach" in argv:
        ground.detach_loop(argv[-1])
        return Answer()
    return Answer(stdout=ground.listed_loops())


def _mdadm(argv: Sequence[str], ground: Ground) -> Answer:
    if "--create" in argv:
        uuid = next(word for word in argv if word.startswith("--uuid=")).removeprefix("--uuid=")
        ground.arrays[argv[argv.index("--create") + 1]] = uuid
        return Answer()
    if "--stop" in argv:
        ground.arrays.pop(argv[-1], None)
        return Answer()
    rows = [f"ARRAY {device} UUID={uuid}" for device, uuid in ground.arrays.items()]
    return Answer(stdout="\n".join(rows) if "--scan" in argv else "")


def _mount(argv: Sequence[str], ground: Ground) -> Answer:
    words = list(argv[1:-1])
    given = {}
    for option in ("-t", "-o"):
        if option in words:
            at = words.index(option)
            given[option] = words[at + 1]
            del words[at : at + 2]
    if "-t" in given:
        ground.mounts.append((given["-t"], words[0], argv[-1]))
    return Answer()


def _umount(argv: Sequence[str], ground: Ground) -> Answer:
    ground.mounts = [mount for mount in ground.mounts if mount[2] != argv[-1]]
    return Answer()


def _remove(argv: Sequence[str], ground: Ground) -> Answer:
    ground.remove(argv[-1])
    return Answer()


def _ip(argv: Sequence[str], ground: Ground) -> Answer | None:
    if list(argv[1:3]) == ["netns", "add"]:
        ground.files[f"/run/netns/{argv[3]}"] = ""
    if list(argv[1:3]) == ["netns", "delete"]:
        ground.remove(f"/run/netns/{argv[3]}")
    looks = {"show", "-V"} & set(argv)
    return None if looks and argv[1] != "-n" else Answer()


def _qemu_img(argv: Sequence[str], ground: Ground) -> Answer | None:
    file = argv[-1]
    if argv[1] == "create" and "-b" in argv:
        ground.overlays[file] = argv[argv.index("-b") + 1]
        ground.files[file] = ""
        return Answer()
    if file not in ground.overlays:
        return None
    chain = [{"filename": file}, {"filename": ground.overlays[file]}]
    return Answer(stdout=json.dumps(chain if "--backing-chain" in argv else []))


def _podman(argv: Sequence[str], ground: Ground) -> Answer | None:
    name = argv[-1]
    match argv[1]:
        case "ps":
            there = [mark for each, mark in ground.containers.items() if f"name=^{each}$" in argv]
            return Answer(stdout=json.dumps([{"Labels": {"steelyard": each}} for each in there]))
        case "rm":
            ground.containers.pop(name, None)
            return Answer()
        case "import" | "tag":
            ground.images.add(name)
            return Answer()
        case "rmi":
            ground.images.discard(name)
            return Answer()
        case "image" if name in ground.images:
            return Answer()
    return None


def _find(argv: Sequence[str], ground: Ground) -> Answer | None:
    if "rmdir" in argv:
        ground.remove(argv[1])
        return Answer()
    if ground.real is None and argv[1] == _CPUS:
        return Answer(stdout=f"{_CPUS}/cpu0\n")
    return None


_ANSWERS: dict[str, Callable[[Sequence[str], Ground], Answer | None]] = {
    "find": _find,
    "ip": _ip,
    "losetup": _losetup,
    "mdadm": _mdadm,
    "mount": _mount,
    "podman": _podman,
    "qemu-img": _qemu_img,
    "rm": _remove,
    "rmdir": _remove,
    "test": _tested,
    "umount": _umount,
}
