"""Settings of platforms and of their disks that code reads.

A default here is that of the file; a system holds only settings that have a value.
"""

from __future__ import annotations

from steelyard.study.settings import SettingsModel


class Confinement(SettingsModel):
    """What a system may use of a machine that it shares with others."""

    cpus: int | None = None
    cpuset: str | None = None
    memory: int | None = None


class SharedSettings(SettingsModel):
    """What a platform may have whatever drives it; ``None`` where it has no such setting."""

    network: str | None = None
    confine: Confinement | None = None
    cpuset: str | None = None
    vcpu_cpus: str | None = None


class NativeSettings(SettingsModel):
    """A machine itself."""

    confine: Confinement | None = None
    network: str = "host"


class NspawnSettings(SettingsModel):
    """A container of systemd."""

    image: str | None = None
    cpus: int | None = None
    memory: int | None = None


class PodmanSettings(SettingsModel):
    """A container of Podman."""

    image: str | None = None
    cpus: int | None = None
    cpuset: str | None = None
    memory: int | None = None
    pids: int | None = None
    storage: str = "overlay"
    runtime: str = "auto"


class QemuSettings(SettingsModel):
    """A virtual machine of QEMU."""

    image: str = "debian-minimal"
    key: str | None = None
    kernel: str | None = None
    initrd: str | None = None
    firmware: str = "bios"
    cpus: int = 1
    cpuset: str | None = None
    vcpu_cpus: str | None = None
    memory: int = 1 << 30
    accel: str = "auto"
    nic: str = "virtio"
    disk_bus: str = "virtio"
    disk_cache: str = "none"
    ports: tuple[str, ...] = ()
    kernel_words: str | None = None


class SshSettings(SettingsModel):
    """A machine that is reached by ssh."""

    host: str
    address: str | None = None
    may_reboot: bool = False


DEFAULT_SIZE_BYTES = 1024**3
"""The size of a disk, or the room in a folder, where a study does not say it."""


class DiskSettings(SettingsModel):
    """A disk that is made and attached, or several that are joined; or what is there already.

    That is a ``folder``, or a disk that a server offers at ``url``.
    """

    folder: str | None = None
    url: str | None = None
    overwrite: str | None = None
    count: int = 1
    size: int | None = None
    cache: str = "none"
    layout: str = "single"
    filesystem: str = "ext4"
    mkfs: str | None = None
    mount: str | None = None
    check: str = "filesystem"

    @property
    def size_bytes(self) -> int:
        """Of the disk that is made, or of the room in the folder."""
        return DEFAULT_SIZE_BYTES if self.size is None else self.size


DRIVEN_SETTINGS: dict[str, type[SettingsModel]] = {
    "native": NativeSettings,
    "nspawn": NspawnSettings,
    "podman": PodmanSettings,
    "qemu": QemuSettings,
    "ssh": SshSettings,
}
"""The settings of each platform that has a driver of its own, by name."""
