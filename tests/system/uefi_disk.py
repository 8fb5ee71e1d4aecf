"""A user's disk that starts under UEFI and has no cloud-init: made of the one that has both others.

The system is that of ``cloud_image``; its boot loader is systemd's, where removable disks have it.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from tests.platforms.cloud_image import cloud_image
from tests.platforms.needs import need

_LOADER = Path("/usr/lib/systemd/boot/efi/systemd-bootx64.efi")
_BUILD = """set -eu
cloud=$1 key=$2 loader=$3
qemu-img convert -O raw "$cloud/disk.qcow2" root.raw
mkdir mounted
mount -o loop,offset=1048576 root.raw mounted
mkdir -p -m 700 mounted/root/.ssh
cp "$key" mounted/root/.ssh/authorized_keys
touch mounted/etc/cloud/cloud-init.disabled
ssh-keygen -q -A -f mounted || { umount mounted; exit 9; }
umount mounted
truncate -s 80M esp.raw
mkfs.vfat -n ESP esp.raw >/dev/null
printf 'default linux.conf\\ntimeout 0\\n' >loader.conf
words="root=LABEL=cloud console=ttyS0 quiet no_timer_check"
printf 'linux /vmlinuz\\ninitrd /initrd.img\\noptions %s\\n' "$words" >linux.conf
mmd -i esp.raw EFI EFI/BOOT loader loader/entries
mcopy -i esp.raw "$loader" ::EFI/BOOT/BOOTX64.EFI
mcopy -i esp.raw loader.conf ::loader/
mcopy -i esp.raw linux.conf ::loader/entries/
mcopy -i esp.raw "$cloud/vmlinuz" "$cloud/initrd.img" ::
truncate -s 2200M disk.raw
printf 'label: gpt\\nstart=1MiB, size=80MiB, type=U\\nstart=81MiB, size=2047MiB, type=L\\n' |
  sfdisk -q disk.raw
dd if=esp.raw of=disk.raw bs=1M seek=1 conv=notrunc,sparse status=none
dd if=root.raw of=disk.raw bs=1M skip=1 seek=81 conv=notrunc,sparse status=none
rm -rf root.raw esp.raw mounted
"""


def uefi_disk(folder: Path, public_key: Path) -> Path:
    """A disk in ``folder`` that lets root in with this key; skips where none can be made."""
    need("mkfs.vfat", "mcopy", "sfdisk", "qemu-img", "mount", root=True)
    if not _LOADER.exists():
        pytest.skip("needs systemd-boot-efi")
    words = ["sh", "-c", _BUILD, "sh", str(cloud_image()), str(public_key), str(_LOADER)]
    subprocess.run(words, cwd=folder, check=True)
    return folder / "disk.raw"
