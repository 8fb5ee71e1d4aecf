"""Starts and stops the server under test, as its service file says.

A server of the engine's own announces on its first line of stdout where it listens; any other
listens on ports that were chosen for it, and the agent beside it tells when it does. No port is
ever connected to in order to learn that.
"""

from __future__ import annotations

from steelyard.systems.services.command import command_line
from steelyard.systems.services.running import RunningService, counters, how_it_died, stop
from steelyard.systems.services.start import start

__all__ = ["RunningService", "command_line", "counters", "how_it_died", "start", "stop"]
