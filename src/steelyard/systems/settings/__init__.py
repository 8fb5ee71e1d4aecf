"""Reversible settings of a machine: applied with their inverse planned before, read back after.

``study/machine.py`` says which there are and what levels they have; here is how each is done.
"""

from steelyard.systems.settings.applied import Applied, Place
from steelyard.systems.settings.apply import apply_settings, revert_settings, setting_facts

__all__ = ["Applied", "Place", "apply_settings", "revert_settings", "setting_facts"]
