"""The inverse of making a system, with all its words, before it is made."""

from __future__ import annotations

from dataclasses import asdict

from steelyard.hosts.undo.actions.command_line import TakeDown
from steelyard.systems.command_line.render import Renderer
from steelyard.systems.platform import InstanceContext


def inverse_of(context: InstanceContext, renderer: Renderer) -> TakeDown:
    """How the instance is taken down; it needs neither the platform's file nor the study."""
    identity, commands = renderer.identity(), renderer.commands
    return TakeDown(
        label=context.label,
        platform=context.spec.platform,
        call=asdict(identity.call),
        absent=identity.absent,
        ours=identity.ours,
        down=tuple(asdict(renderer.call(step, "down")) for step in commands.down),
        clean=tuple(asdict(renderer.call(step, "down")) for step in commands.clean),
    )
