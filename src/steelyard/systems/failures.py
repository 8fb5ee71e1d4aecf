"""What can go wrong with a place; it stands in ``hosts``, since the way there can fail, too."""

from steelyard.hosts.failures import FAILURE_KINDS, OPERATORS, FailureKind, SystemFailure

__all__ = ["FAILURE_KINDS", "OPERATORS", "FailureKind", "SystemFailure"]
