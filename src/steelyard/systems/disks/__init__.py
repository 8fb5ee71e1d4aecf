"""Attached disks become a mounted filesystem, and nothing again: arrays, mkfs, mount, caches."""

from steelyard.systems.disks.caches import caching_places, drop_caches
from steelyard.systems.disks.folder import use_folder
from steelyard.systems.disks.prepare import DiskPlan, Prepared, prepare, take_down

__all__ = [
    "DiskPlan",
    "Prepared",
    "caching_places",
    "drop_caches",
    "prepare",
    "take_down",
    "use_folder",
]
