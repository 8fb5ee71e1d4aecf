"""A Docker daemon of the test's own: private folders and socket, in a network namespace."""

from __future__ import annotations

import signal
import subprocess
import time
from pathlib import Path
from typing import Self

from tests.system.busybox import write_tar
from tests.system.libvirtd import remove_groups, run


class Dockerd:
    """``with Dockerd(folder, name)``: whatever it made is gone afterwards."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder = folder
        self.name = name
        self.socket = f"unix://{folder}/docker.sock"
        self._daemon: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        run("ip", "netns", "add", self.name)
        run("ip", "-n", self.name, "link", "set", "lo", "up")
        try:
            self._start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        if self._daemon is not None:
            self._daemon.send_signal(signal.SIGTERM)
            self._daemon.wait(30)
        for mount in (self.folder / "exec").glob("netns/*"):
            run("umount", str(mount), check=False)
        run("ip", "netns", "delete", self.name, check=False)
        remove_groups("docker")

    def enter(self, words: list[str]) -> list[str]:
        """Words that run others where Docker's bridge is."""
        return ["nsenter", f"--net=/run/netns/{self.name}", *words]

    def docker(self, *words: str, check: bool = True) -> str:
        return run("docker", "--host", self.socket, *words, check=check)

    def import_busybox(self, name: str) -> None:
        """An image of busybox alone."""
        tar = self.folder / "busybox.tar"
        write_tar(tar)
        self.docker("import", str(tar), name)

    def _start(self) -> None:
        words = ["dockerd", "--host", self.socket, "--data-root", str(self.folder / "data")]
        words += ["--exec-root", str(self.folder / "exec"), "--pidfile", f"{self.folder}/pid"]
        with (self.folder / "dockerd.log").open("wb") as log:
            self._daemon = subprocess.Popen(
                self.enter(words), stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
        until = time.monotonic() + 60
        while "Server" not in self.docker("version", check=False):
            said = (self.folder / "dockerd.log").read_text()
            assert self._daemon.poll() is None, said
            assert time.monotonic() < until, said
            time.sleep(0.2)
