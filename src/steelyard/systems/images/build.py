"""Builds an image of a recipe on a machine, whole or not at all.

Root is needed: the packages are unpacked with their owners, in a folder of temporary files, where
apt may fetch without being root. The folder of an image appears by rename.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from steelyard.engine.agent import AgentRefusal
from steelyard.engine.messages import Ran
from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host
from steelyard.systems.images import mmdebstrap
from steelyard.systems.images.engine_layer import engine_path, pack_engine
from steelyard.systems.images.recipe import BOOT_MODULES, EPOCH_S, Kind, NamedRecipe, scripts
from steelyard.systems.images.store import (
    DISK,
    ENGINE_PART,
    INITRD,
    KERNEL,
    MANIFEST,
    TREE,
    EngineFacts,
    FileFacts,
    Image,
    Manifest,
    find_built,
    images_folder,
    read_image,
)
from steelyard.units import format_bytes

BUILD_TIMEOUT_S = 3600.0
STEP_TIMEOUT_S = 900.0
ROOM_BYTES = 3 * 1024**3
ENGINE_PATH = "/usr/lib/steelyard/steelyard-engine"
KEPT: dict[Kind, tuple[str, ...]] = {
    "guest": (DISK, KERNEL, INITRD, ENGINE_PART),
    "container": (TREE,),
}
BUILDING = ".building-"
UNPACKED = "steelyard-building-"
"""With the process id of the agent and some letters, among the temporary files."""
Say = Callable[[str], None]


def build_image(host: Host, named: NamedRecipe, kind: Kind, say: Say = lambda _: None) -> Image:
    """The image of this recipe: the one that is there, or a new one.

    Raises:
        SystemFailure: ``no_rights``, ``tool_missing``, ``no_space``, ``image_unusable`` (the
            recipe cannot be built) or ``tool_failed``, with the last words of the tool.
    """
    found = find_built(host, named, kind)
    if found is not None:
        return found
    if kind not in named.recipe.kinds():
        message = f"`{named.name}` is a recipe for a {named.recipe.kind}, not for a {kind}"
        raise SystemFailure(
            "image_unusable", message, f"change `kind` or ask for {named.recipe.kind}"
        )
    _check_machine(host, kind)
    folder = images_folder(host)
    sweep(host, folder)
    work = f"{folder}/{BUILDING}{named.name}-{kind}-{host.agent_pid}"
    try:
        host.make_directory(work)
        return _Build(host, named, kind, work, say).image(f"{folder}/{named.folder_name(kind)}")
    finally:
        host.remove_tree(work)
        for tree in _trees(host, host.agent_pid):
            host.remove_tree(tree)


class _Build:
    """One build in its folder."""

    def __init__(self, host: Host, named: NamedRecipe, kind: Kind, work: str, say: Say) -> None:
        self.host, self.named, self.kind, self.work, self.say = host, named, kind, work, say
        self.started_s = time.monotonic()

    def image(self, folder: str) -> Image:
        self.prepare()
        self.say(f"packages of {self.named.recipe.suite} for `{self.named.name}`")
        argv = mmdebstrap.mmdebstrap(self.named.recipe, self.kind, self.work)
        environment = {"SOURCE_DATE_EPOCH": str(EPOCH_S), "TMPDIR": _new_tree(self.host)}
        self.succeed(self.host.run(argv, timeout_s=BUILD_TIMEOUT_S, environment=environment))
        if self.kind == "guest":
            self.say("kernel, modules and initrd")
            self.script("guest-files.sh", str(EPOCH_S))
            self.say("disk")
            uuid = mmdebstrap.filesystem_uuid(self.named.digest(self.kind))
            size = str(self.named.recipe.disk_size)
            self.script("guest-disk.sh", str(EPOCH_S), uuid, size)
            pack_engine(self.host, f"{self.work}/{ENGINE_PART}")
        return self.keep(folder)

    def prepare(self) -> None:
        """Writes what the tools read, and puts the engine into the tree of a container."""
        host, work = self.host, self.work
        for folder in ("scripts", "files", "kept"):
            host.make_directory(f"{work}/{folder}")
        for name, text in scripts().items():
            host.write_file(f"{work}/scripts/{name}", text, create=True)
        for name, text in mmdebstrap.lists(self.named.recipe, self.kind).items():
            host.write_file(f"{work}/{name}", text, create=True)
        for path, file in self.named.recipe.files.items():
            inside = f"{work}/files{path}"
            host.make_directory(inside.rpartition("/")[0])
            host.write_file(inside, file.content, mode=file.mode, create=True)
        if self.kind == "container":
            inside = f"{work}/files{ENGINE_PATH}"
            host.make_directory(inside.rpartition("/")[0])
            self.succeed(host.run(["cp", engine_path(host), inside], timeout_s=60))

    def script(self, name: str, *arguments: str) -> None:
        argv = ["sh", f"{self.work}/scripts/{name}", self.work, *arguments]
        self.succeed(self.host.run(argv, timeout_s=STEP_TIMEOUT_S))

    def succeed(self, ran: Ran) -> None:
        if ran.timed_out:
            raise SystemFailure(
                "timed_out", "building the image took too long", last_words=ran.stderr
            )
        if not ran.succeeded:
            kind, told = mmdebstrap.complaint(ran.stderr)
            raise SystemFailure(kind, **told, last_words=ran.stderr)

    def keep(self, folder: str) -> Image:
        """Moves what is kept into place; another build that was faster wins."""
        kept = f"{self.work}/kept"
        paths = [f"{self.work}/{name}" for name in KEPT[self.kind]]
        self.succeed(self.host.run(["mv", *paths, kept], timeout_s=60))
        text = self.manifest(kept).model_dump_json(indent=2)
        self.host.write_file(f"{kept}/{MANIFEST}", text + "\n", create=True, durable=True)
        self.host.sync_filesystem(kept)
        self.host.run(["mv", "-T", kept, folder], timeout_s=60)
        return read_image(self.host, folder)

    def manifest(self, kept: str) -> Manifest:
        files = KEPT[self.kind]
        engine = engine_path(self.host)
        sums = self._sums([*(f"{kept}/{name}" for name in files), engine])
        guest = self.kind == "guest"
        return Manifest(
            name=self.named.name,
            kind=self.kind,
            digest=self.named.digest(self.kind),
            recipe=self.named.recipe.model_dump(mode="json"),
            init=self.named.recipe.init,
            files={name: self._file(f"{kept}/{name}", sums) for name in files},
            packages=mmdebstrap.packages(self.host.read_file(f"{self.work}/packages")),
            engine=EngineFacts(version=self.host.engine_version, sha256=sums[engine]),
            kernel=self._text("kernel-release") if guest else None,
            boot_modules=self._boot_modules() if guest else (),
            tools={name: _version(self.host, name) for name in ("mmdebstrap",)},
            took_s=round(time.monotonic() - self.started_s, 3),
        )

    def _boot_modules(self) -> tuple[str, ...]:
        return (*BOOT_MODULES, *self._text("boot-modules-there").split())

    def _text(self, name: str) -> str:
        return self.host.read_file(f"{self.work}/{name}").strip()

    def _sums(self, paths: list[str]) -> dict[str, str]:
        ran = self.host.run(["sha256sum", "--", *paths], timeout_s=STEP_TIMEOUT_S)
        self.succeed(ran)
        pairs = (line.split("  ", 1) for line in ran.stdout.splitlines())
        return {path: digest for digest, path in pairs}

    def _file(self, path: str, sums: dict[str, str]) -> FileFacts:
        size_bytes = self.host.path_facts(path).size_bytes
        if size_bytes is None:
            raise SystemFailure("tool_failed", f"{path} was not built")
        return FileFacts(sha256=sums[path], size_bytes=size_bytes)


def sweep(host: Host, folder: str) -> None:
    """Removes what builds left that were killed: their folders bear the process id of the agent."""
    for name in host.run(["ls", "-A", folder], timeout_s=10).stdout.split():
        pid = name.rpartition("-")[2]
        if name.startswith(BUILDING) and not host.path_facts(f"/proc/{pid}").exists:
            host.remove_tree(f"{folder}/{name}")
    for tree in _trees(host):
        pid = tree.rpartition("-")[2].partition(".")[0]
        if not host.path_facts(f"/proc/{pid}").exists:
            host.remove_tree(tree)


def _new_tree(host: Host) -> str:
    """A new folder that apt's own user can enter."""
    made = f"d=$(mktemp -d -t {UNPACKED}{host.agent_pid}.XXXXXX)"
    script = f'{made} && chmod 755 "$d" && echo "$d"'
    ran = host.run(["sh", "-c", script], timeout_s=10)
    if not ran.succeeded:
        raise SystemFailure("tool_failed", f"no temporary folder can be made: {ran.stderr.strip()}")
    return ran.stdout.strip()


def _trees(host: Host, pid: int | None = None) -> list[str]:
    """Those that were made for builds of one agent, or of any."""
    owner = "" if pid is None else f"{pid}."
    script = f'ls -d "${{TMPDIR:-/tmp}}/{UNPACKED}{owner}"* 2>/dev/null'
    return host.run(["sh", "-c", script], timeout_s=10).stdout.splitlines()


def _version(host: Host, tool: str) -> str:
    return host.run([tool, "--version"], timeout_s=10).stdout.strip()


def _check_machine(host: Host, kind: Kind) -> None:
    if host.run(["id", "-u"], timeout_s=10).stdout.strip() != "0":
        hint = (
            "build it as root (`sudo -E steelyard image build ...`), or name an image of your own"
        )
        raise SystemFailure("no_rights", "images are built by root: packages bring owners", hint)
    missing = [tool for tool in mmdebstrap.TOOLS[kind] if not _has(host, tool)]
    if missing:
        wanted = " ".join(sorted({mmdebstrap.DEBIAN_PACKAGES[tool] for tool in missing}))
        message = f"{', '.join(missing)} cannot be run on {host.name}"
        raise SystemFailure("tool_missing", message, f"on Debian: apt install {wanted}")
    free: Any = host.path_facts(images_folder(host)).free_bytes
    if free is not None and free < ROOM_BYTES:
        message = f"{images_folder(host)} has {format_bytes(free)} free, a build takes up to 3 GiB"
        raise SystemFailure("no_space", message, "make room, or set XDG_CACHE_HOME")


def _has(host: Host, tool: str) -> bool:
    try:
        return host.run(["sh", "-c", f"command -v {tool}"], timeout_s=10).succeeded
    except AgentRefusal:
        return False
