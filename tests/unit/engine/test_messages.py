from __future__ import annotations

import pytest

from steelyard.engine.messages import complaint

XFS = """\
size 256 of data subvolume is too small, minimum 4096 blocks
Usage: mkfs.xfs
/* blocksize */\t\t[-b size=num]
<value> is xxx (512 byte blocks).
"""
EXT4 = """\
mkfs.ext4: invalid option -- '-'
Usage: mkfs.ext4 [-c|-l filename] [-b block-size] [-C cluster-size]
\t[-jnqvDFSV] device [blocks-count]
"""
BTRFS = """\
mkfs.btrfs: unrecognized option '--what'
usage: mkfs.btrfs [options] <dev> [<dev...>]

    -l|--leafsize SIZE        removed in 6.0, use --nodesize
"""
MOUNT = """\
mount: bad usage
Try 'mount --help' for more information.
"""
TAR = """\
tar: /nowhere.tar: Cannot open: No such file or directory
tar: Error is not recoverable: exiting now
"""


@pytest.mark.parametrize(
    ("stderr", "told"),
    [
        (XFS, "size 256 of data subvolume is too small, minimum 4096 blocks"),
        (EXT4, "mkfs.ext4: invalid option -- '-'"),
        (BTRFS, "mkfs.btrfs: unrecognized option '--what'"),
        (MOUNT, "mount: bad usage"),
        (TAR, "tar: /nowhere.tar: Cannot open: No such file or directory"),
    ],
)
def test_the_usage_behind_a_complaint_is_not_part_of_it(stderr: str, told: str) -> None:
    assert complaint(stderr) == told


def test_a_tool_that_says_its_usage_alone_is_reported_with_it() -> None:
    said = "Usage: tool FILE\nerror: which file?"
    assert complaint(said) == said


def test_a_complaint_on_stdout_is_reported_where_stderr_is_empty() -> None:
    version, told = "mkfs.jfs version 1.1.15", "Partition must be at least 16 megabytes."
    assert complaint("\n", f"{version}\n{told}\n") == f"{version}\n{told}"
    assert complaint("this\n", "that") == "this"
    assert complaint("", "") == ""
