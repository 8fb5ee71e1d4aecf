"""What became of the disks of a system: checked once nothing writes to them any more."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from steelyard.plan.model import Frozen
from steelyard.records.note import Note

DiskPart = Literal["copies", "filesystem", "files"]
"""What of a disk is checked: the copies of an array, the filesystem, files read back."""


class FilesystemDamaged(Note):
    """The filesystem's own program, which only looked, found errors; ``said`` is its last word."""

    kind: Literal["filesystem_damaged"] = "filesystem_damaged"
    command: str
    exit_code: int
    said: str


class CopiesDiffer(Note):
    """So many sectors of a mirror differ between its disks, as the kernel counts them."""

    kind: Literal["copies_differ"] = "copies_differ"
    sectors: int


class CannotBeMounted(Note):
    """A filesystem that was mounted could not be mounted again to be read."""

    kind: Literal["cannot_be_mounted"] = "cannot_be_mounted"
    said: str


class ContentChanged(Note):
    """Files are not what they were before the disk was unmounted, or cannot be read.

    ``files`` counts them, ``names`` are some of them; ``test_file``: the one written beforehand is
    among them.
    """

    kind: Literal["content_changed"] = "content_changed"
    files: int
    names: tuple[str, ...]
    test_file: bool


Damage = Annotated[
    FilesystemDamaged | CopiesDiffer | CannotBeMounted | ContentChanged,
    Field(discriminator="kind"),
]


class DiskCheck(Frozen):
    """One disk that a study calls ``disk``, of one instance, after all that wrote to it has ended.

    ``device`` bears the filesystem; of a folder that was there already it is the folder's.
    ``checked`` are the parts that were gone through to their end, ``files`` how many were read
    back. ``not_checked`` says by part why it was not.
    """

    instance: int
    disk: str
    device: str
    checked: tuple[DiskPart, ...] = ()
    files: int = 0
    damage: tuple[Damage, ...] = ()
    not_checked: dict[DiskPart, str] = Field(default_factory=dict)
