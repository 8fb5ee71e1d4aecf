"""What is tortured: short studies, each with other things to be undone."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from bench.torture import disk
from bench.torture.controller import STUDIES
from bench.torture.network import OwnNetwork

from steelyard.hosts.machines import LOCAL, Machines
from steelyard.hosts.undo.ours import RunFolders
from steelyard.systems.images.recipe import find_recipe
from steelyard.systems.images.store import find_built

_STUDY = """\
study: torture
question: Does a run survive whatever happens to its controller?
systems:
  one: {system}
  two: {system}
workload: {{use: http, keep_alive: false}}
load: {{users: 1}}
trials:
  margin: 1 %
  window: {window}
  warmup: 10 ms
  reset: {reset}
  budget: {{trials: {count} per cell}}
sample: {{every: 100 ms}}
"""
_SET_S = "31"
LONG_TRIALS = 12
SHORT_TRIALS = 8
"""Where a trial takes seconds."""
_SETTINGS = f"host_settings: {{sysctl: {{net.ipv4.tcp_fin_timeout: {_SET_S}}}}}"
_SINK = "service: {use: sink-http}"
_IMAGE = "debian-minimal"
"""What a guest boots where a study names no image."""


@dataclass(frozen=True)
class Platform:
    """``needs`` says what is missing here, if anything; ``loses_power``: its results are on a disk
    that does, and nothing else happens to it.
    """

    name: str
    study: str
    needs: Callable[[], str | None]
    trials: int = LONG_TRIALS
    takes_s: float = 4.0
    loses_power: bool = False


def _study(
    system: str, reset: str = "service", window: str = "100 ms", trials: int = LONG_TRIALS
) -> str:
    return _STUDY.format(
        system=f"{{{system}, {_SINK}}}", reset=reset, window=window, count=trials // 2
    )


def _nothing() -> str | None:
    return None


def _root(*tools: str) -> Callable[[], str | None]:
    def missing() -> str | None:
        lacking = [tool for tool in tools if shutil.which(tool) is None]
        return "root" if os.geteuid() != 0 else ", ".join(lacking) or None

    return missing


def _guest() -> str | None:
    lacking = _root("qemu-system-x86_64", "qemu-img", "ip", "nsenter")()
    if lacking is not None:
        return lacking
    with Machines() as machines:
        built = find_built(machines.open(LOCAL), find_recipe(_IMAGE), "guest")
    return None if built is not None else f"steelyard image build {_IMAGE}"


PLATFORMS = (
    Platform("native", _study("platform: native"), _nothing),
    Platform(
        "native, settings",
        _study(f"platform: native, {_SETTINGS}"),
        _root("unshare", "ip"),
    ),
    Platform(
        "native, settings and a disk",
        _study(
            f"platform: native, {_SETTINGS}, disks: {{data: {{size: 128 MiB, filesystem: ext4}}}}",
            trials=SHORT_TRIALS,
        ),
        _root("unshare", "ip", "losetup", "mkfs.ext4"),
        trials=SHORT_TRIALS,
    ),
    Platform(
        "native, own disk",
        _study("platform: native"),
        _root(*disk.TOOLS),
        loses_power=True,
    ),
    Platform(
        "container",
        _study("platform: podman", "container", trials=SHORT_TRIALS),
        _root("podman"),
        trials=SHORT_TRIALS,
    ),
    Platform(
        "guest",
        _study("platform: qemu, memory: 256 MiB", window="2 s", trials=SHORT_TRIALS),
        _guest,
        trials=SHORT_TRIALS,
    ),
)


def what_stands(folder: Path, run: Path | None, network: OwnNetwork) -> list[str]:
    """What of a run, and of its study in ``folder``, is still on the machine, in words."""
    things = [*_files(folder), *_settings(network), *_mounts(folder)]
    if run is None:
        return things
    mark = RunFolders(run).mark
    return [*things, *_processes(mark), *_containers(mark), *_namespaces(mark)]


def _files(folder: Path) -> Iterator[str]:
    for path in folder.rglob("*"):
        if path.name.startswith(".new-") or path.name == "scratch":
            yield str(path.relative_to(folder))


def _settings(network: OwnNetwork) -> Iterator[str]:
    if network.parameter("ipv4/tcp_fin_timeout") == _SET_S:
        yield f"tcp_fin_timeout is {_SET_S}"


def _mounts(folder: Path) -> Iterator[str]:
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        if f"{folder}/" in line and line.split()[4] != str(folder / STUDIES):
            yield f"mount {line.split()[4]}"
    for backing in Path("/sys/block").glob("loop*/loop/backing_file"):
        try:
            file = backing.read_text().strip()
        except OSError:
            continue
        if file.startswith(f"{folder}/"):
            yield f"loop device {backing.parts[3]}"


def _processes(mark: str) -> Iterator[str]:
    """Guests, and those that keep and start containers, which Podman may have forgotten."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                words = (
                    (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                )
                if f"steelyard-{mark}" in words:
                    yield f"process {entry.name}: {words[:120]}"


def _namespaces(mark: str) -> Iterator[str]:
    for path in Path("/run/netns").glob(f"*{mark}*"):
        yield f"network namespace {path.name}"


def _containers(mark: str) -> Iterator[str]:
    if shutil.which("podman") is not None:
        argv = ["podman", "ps", "--all", "--filter", f"name=steelyard-{mark}", "--quiet"]
        ran = subprocess.run(argv, capture_output=True, text=True, check=False)
        if ran.stdout.strip():
            yield f"container {ran.stdout.strip()}"
