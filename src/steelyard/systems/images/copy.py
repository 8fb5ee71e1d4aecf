"""Brings an image that is there to another machine, whole or not at all, instead of building it."""

from __future__ import annotations

import subprocess
from collections.abc import Callable

from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host
from steelyard.hosts.tool import tell
from steelyard.systems.images.build import BUILDING, sweep
from steelyard.systems.images.recipe import Kind, NamedRecipe
from steelyard.systems.images.store import Image, find_built, images_folder, read_image
from steelyard.units import format_bytes

COPY_TIMEOUT_S = 3600.0
_SUM_TIMEOUT_S = 900.0


def copy_image(
    here: Host, there: Host, named: NamedRecipe, kind: Kind, say: Callable[[str], None]
) -> Image | None:
    """The image of this recipe on the machine ``there``; ``None`` where neither machine has it.

    Raises:
        SystemFailure: ``no_space``, ``tool_failed`` or ``timed_out``: it cannot be copied;
            ``image_unusable``: what arrived is not what was sent.
    """
    found = find_built(there, named, kind)
    built = None if found is not None else find_built(here, named, kind)
    if built is None:
        return found
    size_bytes = sum(file.size_bytes for file in built.manifest.files.values())
    folder = images_folder(there)
    sweep(there, folder)
    work = f"{folder}/{BUILDING}{named.name}-{kind}-{there.agent_pid}"
    there.make_directory(work)
    try:
        _check_room(there, folder, size_bytes)
        say(f"copying {format_bytes(size_bytes)} of `{named.name}` to {there.name}")
        _stream(here.way(["tar", "-cS", "-C", built.folder, "."]), there, work)
        _check_sums(there, work, built)
        there.sync_filesystem(work)
        there.run(["mv", "-T", work, f"{folder}/{named.folder_name(kind)}"], timeout_s=60)
    finally:
        there.remove_tree(work)
    return read_image(there, f"{folder}/{named.folder_name(kind)}")


def _check_room(host: Host, folder: str, size_bytes: int) -> None:
    free_bytes = host.path_facts(folder).free_bytes
    if free_bytes is not None and free_bytes < size_bytes:
        message = f"on {host.name}: {folder} has {format_bytes(free_bytes)} free"
        hint = f"the image takes {format_bytes(size_bytes)}"
        raise SystemFailure("no_space", message, hint)


def _stream(sending: list[str], there: Host, work: str) -> None:
    """From the output of one command to the input of one on the other machine."""
    receiving = there.way(["tar", "-xS", "-C", work])
    with subprocess.Popen(sending, stdout=subprocess.PIPE) as sender:
        try:
            ran = subprocess.run(
                receiving,
                stdin=sender.stdout,
                capture_output=True,
                timeout=COPY_TIMEOUT_S,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            sender.kill()
            message = f"the image has not reached {there.name} in {COPY_TIMEOUT_S:g} s"
            raise SystemFailure("timed_out", message) from error
    if ran.returncode != 0 or sender.returncode != 0:
        said = ran.stderr.decode(errors="replace").strip()
        message = f"the image cannot be copied to {there.name}: {said[-200:] or 'tar failed'}"
        if "No space left" in said:
            raise SystemFailure("no_space", message, "make room there")
        raise SystemFailure("tool_failed", message)


def _check_sums(there: Host, work: str, built: Image) -> None:
    files = built.manifest.files
    paths = [f"{work}/{name}" for name in files]
    told = tell(there, ["sha256sum", "--", *paths], timeout_s=_SUM_TIMEOUT_S)
    arrived = [line.split()[0].lstrip("\\") for line in told.splitlines()]
    for name, digest in zip(files, arrived, strict=True):
        if digest != files[name].sha256:
            message = f"{name} arrived on {there.name} with another sha256"
            raise SystemFailure("image_unusable", message, "try again; look at both disks")
