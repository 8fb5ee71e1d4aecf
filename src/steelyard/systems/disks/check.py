"""Whether a disk still holds what was written to it, asked once nothing writes to it any more.

A test file lies on it from the start, and its checksum elsewhere. A disk that was made is taken off
its place, its array and its filesystem are looked at by their own programs, which change nothing,
and files are read back from a read-only mount; it is left unmounted. Of a folder that was there
already only files are read back, past the page cache.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from steelyard.engine.agent import AgentRefusal
from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host
from steelyard.hosts.looks import looking
from steelyard.hosts.tool import attempt, failed, tell
from steelyard.records.disk_checks import (
    CannotBeMounted,
    ContentChanged,
    Damage,
    DiskCheck,
    DiskPart,
    FilesystemDamaged,
)
from steelyard.study.declared.machine import filesystems
from steelyard.systems.disks.arrays import copies_differ
from steelyard.systems.disks.prepare import FOLDER, Prepared

TEST_FILE = ".steelyard-test"
CHECK_TIMEOUT_S = 3600.0
_BLOCK_BYTES = 64 * 1024
_MOST_BLOCKS = 64
_LEAST_SHARE = 16
_SAID_CHARACTERS = 400
_NAMES = 3
WRITE_TEST_FILE = """\
set -e; cd "$1"
dd if=/dev/urandom of="$2" bs="$3" count="$4" conv=fsync status=none
sha256sum -- "./$2" > "$5"
"""
_LIST = """\
cd "$1" && find . -type f ! -path "./$2" -print0 | xargs -0 -r sha256sum -- >> "$3"
"""
_LET_GO = """\
cd "$1" && find . -type f -name "$2" -exec dd if={} iflag=nocache count=0 status=none ';'
"""
_COUNT = 'wc -l < "$1"'
_HELD = looking('grep -lF -- " $1 " /proc/[0-9]*/mountinfo 2> /dev/null | head -n 1')
_RELEASE_S = 20.0
_PAUSE_S = 0.2
_COMPARE = 'cd "$1" && LC_ALL=C sha256sum --check --quiet --strict -- "$2"'
_FAILED = ": FAILED"


def write_test_file(host: Host, prepared: Prepared, size_bytes: int, sums: str) -> None:
    """Writes bytes in no order to a disk of this size, and their checksum to the file ``sums``.

    Raises:
        SystemFailure: ``no_space``, ``no_rights``, ``tool_missing``, ``tool_failed``.
    """
    blocks = max(1, min(_MOST_BLOCKS, size_bytes // _LEAST_SHARE // _BLOCK_BYTES))
    words = [prepared.plan.mount_point, TEST_FILE, str(_BLOCK_BYTES), str(blocks), sums]
    tell(host, ["sh", "-c", WRITE_TEST_FILE, "sh", *words], timeout_s=CHECK_TIMEOUT_S)


def check_disk(
    host: Host, prepared: Prepared, sums: str, *, instance: int, every_file: bool
) -> DiskCheck:
    """What became of one disk; a made one is left unmounted, for ``take_down`` to go on with.

    ``sums`` is the file that :func:`write_test_file` wrote. ``every_file`` holds all files against
    what they were before the disk was unmounted, else the test file alone.
    """
    look = _Look(host, prepared, sums, every_file=every_file)
    look.go()
    parts = _parts(prepared)
    return DiskCheck(
        instance=instance,
        disk=prepared.plan.name,
        device=prepared.device,
        checked=tuple(part for part in parts if part not in look.not_checked),
        files=0 if "files" in look.not_checked else look.files,
        damage=tuple(look.damage),
        not_checked=look.not_checked,
    )


def _parts(prepared: Prepared) -> tuple[DiskPart, ...]:
    if prepared.plan.layout == FOLDER:
        return ("files",)
    return (*(("copies",) if prepared.plan.layout == "raid1" else ()), "filesystem", "files")


def await_release(host: Host, device: str) -> None:
    """Returns when no mount namespace has a filesystem on this device any more.

    One that was made while it was mounted may hold a copy of the mount; what is looked at then is
    a filesystem in use, which seems damaged.

    Raises:
        SystemFailure: ``not_ready``: one has it still.
    """
    deadline_s = time.monotonic() + _RELEASE_S
    while held := tell(host, ["sh", "-c", _HELD, "sh", device]):
        if time.monotonic() > deadline_s:
            message = f"on {host.name}: {device} is still mounted for another process: {held}"
            raise SystemFailure("not_ready", message, "end what runs in that mount namespace")
        host.patience.pause(_PAUSE_S)


@dataclass
class _Look:
    """What is seen of one disk. A part that fails otherwise than by damage was not checked."""

    host: Host
    prepared: Prepared
    sums: str
    every_file: bool
    damage: list[Damage] = field(default_factory=list)
    not_checked: dict[DiskPart, str] = field(default_factory=dict)
    files: int = 0

    @property
    def place(self) -> str:
        return self.prepared.plan.mount_point

    def go(self) -> None:
        """Each part that can be looked at, whatever became of the others."""
        listed = self._did(["files"], self._list)
        if self.prepared.plan.layout == FOLDER:
            _ = listed and self._did(["files"], self._read_from_folder)
            return
        parts = _parts(self.prepared)
        if not self._did(parts, self._unmount):
            return
        if "copies" in parts:
            self._did(["copies"], self._compare_copies)
        self._did(["filesystem"], self._look_for_errors)
        _ = listed and self._did(["files"], self._read_from_disk)

    def _did(self, parts: Sequence[DiskPart], step: Callable[[], None]) -> bool:
        """Takes a step that these parts need; whether it could be taken."""
        try:
            step()
        except (AgentRefusal, SystemFailure) as error:
            why = error.message if isinstance(error, SystemFailure) else error.failure.message
            self.not_checked |= dict.fromkeys(parts, why)
            return False
        return True

    def _shell(self, script: str, *words: str) -> str:
        return tell(self.host, ["sh", "-c", script, "sh", *words], timeout_s=CHECK_TIMEOUT_S)

    def _list(self) -> None:
        """What files are before the disk is unmounted; of the test file that is known."""
        if not self.host.path_facts(f"{self.place}/{TEST_FILE}").exists:
            message = f"on {self.host.name}: {TEST_FILE} is gone from {self.place}"
            raise SystemFailure("tool_failed", message, "something else removed it")
        if self.every_file:
            self._shell(_LIST, self.place, TEST_FILE, self.sums)
        self.files = int(self._shell(_COUNT, self.sums) or 0)

    def _unmount(self) -> None:
        tell(self.host, ["umount", self.place], timeout_s=CHECK_TIMEOUT_S)
        await_release(self.host, self.prepared.device)

    def _compare_copies(self) -> None:
        device = self.prepared.device
        self.damage += copies_differ(self.host, device, timeout_s=CHECK_TIMEOUT_S)

    def _look_for_errors(self) -> None:
        """By the filesystem's own program; other exit codes say that it could not tell."""
        filesystem = filesystems()[self.prepared.plan.filesystem]
        argv = [*filesystem.check, self.prepared.device]
        ran = attempt(self.host, argv, timeout_s=CHECK_TIMEOUT_S)
        if ran.exit_code == 0:
            return
        if ran.exit_code not in filesystem.damaged:
            raise failed(self.host, argv, ran)
        said = _short(ran.stdout.strip() or ran.stderr.strip())
        command = " ".join(argv)
        self.damage.append(FilesystemDamaged(command=command, exit_code=ran.exit_code, said=said))

    def _read_from_disk(self) -> None:
        if any(isinstance(each, FilesystemDamaged) for each in self.damage):
            message = f"on {self.host.name}: a damaged filesystem is not mounted again"
            raise SystemFailure("not_supported", message)
        plan = self.prepared.plan
        options = ",".join(filter(None, (plan.mount_options, "ro")))
        words = ["mount", "-t", plan.filesystem, "-o", options, self.prepared.device, self.place]
        try:
            tell(self.host, words, timeout_s=CHECK_TIMEOUT_S)
        except SystemFailure as failure:
            self.damage.append(CannotBeMounted(said=_short(failure.message)))
            raise
        self._compare()
        self._unmount()

    def _read_from_folder(self) -> None:
        self.host.sync_filesystem(self.place)
        self._shell(_LET_GO, self.place, "*" if self.every_file else TEST_FILE)
        self._compare()

    def _compare(self) -> None:
        """Reads files and compares their checksums with those of the list."""
        argv = ["sh", "-c", _COMPARE, "sh", self.place, self.sums]
        ran = attempt(self.host, argv, timeout_s=CHECK_TIMEOUT_S)
        if ran.exit_code == 0:
            return
        lines = [line for line in ran.stdout.splitlines() if _FAILED in line]
        names = [line.rpartition(_FAILED)[0].removeprefix("./") for line in lines]
        if not names:
            raise failed(self.host, argv, ran)
        named, test_file = tuple(names[:_NAMES]), TEST_FILE in names
        self.damage.append(ContentChanged(files=len(names), names=named, test_file=test_file))


def _short(text: str) -> str:
    """The last of what was said, where programs say what it comes to, on one line."""
    text = " ".join(text.split())
    return text if len(text) <= _SAID_CHARACTERS else f"...{text[-_SAID_CHARACTERS:]}"
