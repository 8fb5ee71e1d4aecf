"""Reversible settings of a machine: applied with their inverse planned before, read back after.

``study/declared/machine.py`` declares them with their levels; here is how each is done.
"""

from steelyard.systems.settings.applied import Applied, Place
from steelyard.systems.settings.apply import (
    apply_settings,
    held_values,
    revert_settings,
    setting_facts,
)

__all__ = [
    "Applied",
    "Place",
    "apply_settings",
    "held_values",
    "revert_settings",
    "setting_facts",
]
