"""Attached disks become a mounted filesystem, are checked, and become nothing again."""

from steelyard.systems.disks.caches import caching_places, drop_caches
from steelyard.systems.disks.check import check_disk, write_test_file
from steelyard.systems.disks.folder import use_folder
from steelyard.systems.disks.prepare import DiskPlan, Prepared, prepare, take_down

__all__ = [
    "DiskPlan",
    "Prepared",
    "caching_places",
    "check_disk",
    "drop_caches",
    "prepare",
    "take_down",
    "use_folder",
    "write_test_file",
]
