"""What a machine is like before a run and after it, and what of that differs."""

from steelyard.hosts.environment.differences import Difference, differences
from steelyard.hosts.environment.snapshot import Environment, snapshot

__all__ = ["Difference", "Environment", "differences", "snapshot"]
