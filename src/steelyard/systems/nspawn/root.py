"""The root of a container: the image's files below, a layer above that holds what is written."""

from __future__ import annotations

from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.tool import attempt, tell
from steelyard.hosts.undo.actions.storage import Unmount
from steelyard.study.platform.settings import NspawnSettings
from steelyard.systems.images.tree import sha256_of_file, tree_of
from steelyard.systems.platform import InstanceContext

_UNPACK_TIMEOUT_S = 600.0


class LayeredRoot:
    """An overlay in the instance's folder; ``folder`` is where it is mounted.

    The mount's source is the label of the instance, by which its inverse knows it.
    """

    def __init__(self, context: InstanceContext) -> None:
        self._ground = context
        self._below = f"{context.folder}/image"
        self._layer = f"{context.folder}/layer"
        self.folder = f"{context.folder}/root"
        self.inverse = Unmount(self.folder, context.label)

    def unpack(self) -> str | None:
        """Puts the image's files below; the sha256 of its tar, if there is an image.

        Without one there are as few folders as nspawn asks for.

        Raises:
            SystemFailure: ``image_missing`` or ``image_unusable``.
        """
        host = self._ground.host_machine()
        image = NspawnSettings.of(self._ground.spec.settings).image
        for folder in ("usr", "etc"):
            host.make_directory(f"{self._below}/{folder}")
        if image is None:
            return None
        tar = tree_of(host, image)
        argv = ["tar", "--extract", "--numeric-owner", f"--file={tar}"]
        ran = attempt(host, [*argv, f"--directory={self._below}"], timeout_s=_UNPACK_TIMEOUT_S)
        if ran.exit_code != 0:
            message = f"on {host.name}: {tar} cannot be unpacked: {ran.stderr.strip()[-300:]}"
            raise SystemFailure("image_unusable", message, "it takes a tar of a root filesystem")
        return sha256_of_file(host, tar)

    def mount(self) -> None:
        """With an empty layer."""
        host = self._ground.host_machine()
        host.remove_tree(self._layer)
        for folder in ("written", "work"):
            host.make_directory(f"{self._layer}/{folder}")
        host.make_directory(self.folder)
        layers = f"lowerdir={self._below},upperdir={self._layer}/written,workdir={self._layer}/work"
        tell(host, ["mount", "-t", "overlay", self._ground.label, "-o", layers, self.folder])

    def unmount(self) -> None:
        tell(self._ground.host_machine(), ["umount", self.folder])

    def bytes_written(self) -> int:
        """Of the files in the layer."""
        argv = ["find", f"{self._layer}/written", "-type", "f", "-printf", "%s\\n"]
        return sum(int(size) for size in tell(self._ground.host_machine(), argv).split())
