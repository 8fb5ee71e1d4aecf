"""A disk as a user has it: Debian with its own boot loader, systemd, cloud-init, an ssh server.

Built of packages as distributors build theirs, and kept by the digest of this file. Nothing of
``steelyard`` is in it.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
from pathlib import Path

from tests.platforms.needs import need

_TOOLS = ("mmdebstrap", "extlinux", "sfdisk", "mkfs.ext4", "qemu-img", "losetup", "mount")
_PACKAGES = ",".join(
    (
        *("linux-image-cloud-amd64", "initramfs-tools", "systemd-sysv", "udev", "dbus"),
        *("openssh-server", "cloud-init", "iproute2", "kmod", "e2fsprogs"),
    )
)
_BUILD = f"""set -eu
work=$1
cd "$work"
mkdir files
cat >files/extlinux.conf <<'CONF'
default linux
timeout 1
label linux
  kernel /vmlinuz
  append initrd=/initrd.img root=LABEL=cloud console=ttyS0 quiet no_timer_check
CONF
printf '[Match]\\nName=en* eth*\\n[Network]\\nDHCP=yes\\n' >files/90-any.network
printf 'LABEL=cloud / ext4 defaults 0 1\\n' >files/fstab
mmdebstrap --mode=root --variant=minbase --format=directory --include={_PACKAGES} \\
  --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/locale/*' \\
  --customize-hook='mkdir -p "$1/boot/extlinux"' \\
  --customize-hook='cp files/extlinux.conf "$1/boot/extlinux/"' \\
  --customize-hook='cp files/90-any.network "$1/etc/systemd/network/"' \\
  --customize-hook='cp files/fstab "$1/etc/fstab"; : >"$1/etc/machine-id"' \\
  --customize-hook='chroot "$1" systemctl enable systemd-networkd ssh' \\
  --customize-hook='rm -f "$1"/etc/ssh/ssh_host_*' \\
  bookworm tree
cp tree/vmlinuz tree/initrd.img .
truncate -s 2G disk.raw
echo 'start=2048, type=83, bootable' | sfdisk -q disk.raw
mkfs.ext4 -q -F -L cloud -O ^64bit,^metadata_csum -E offset=1048576 -d tree disk.raw 2096128k
mkdir mounted
mount -o loop,offset=1048576 disk.raw mounted
extlinux --install mounted/boot/extlinux || {{ umount mounted; exit 9; }}
umount mounted
dd if=/usr/lib/EXTLINUX/mbr.bin of=disk.raw bs=440 count=1 conv=notrunc status=none
qemu-img convert -f raw -O qcow2 disk.raw disk.qcow2
rm -rf disk.raw tree mounted files
"""


def cloud_image() -> Path:
    """The folder with ``disk.qcow2``, ``vmlinuz`` and ``initrd.img``; skips where none is built."""
    need(*_TOOLS, root=True)
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    name = hashlib.sha256(_BUILD.encode()).hexdigest()[:16]
    folder = cache / "steelyard" / "test-images" / f"cloud-{name}"
    if not folder.exists():
        work = folder.with_name(f".{folder.name}-{os.getpid()}")
        work.mkdir(parents=True)
        try:
            subprocess.run(["sh", "-c", _BUILD, "sh", str(work)], check=True)
            work.rename(folder)
        finally:
            subprocess.run(["rm", "-rf", str(work)], check=True)
    return folder
