"""How what drives an instance reaches its server, with the file that it needs for that."""

from __future__ import annotations

from dataclasses import replace

from steelyard.hosts.host import Host
from steelyard.hosts.undo.actions.files import RemoveTree
from steelyard.trial.attempt.attempt import Attempt
from steelyard.trial.attempt.instance import Instance
from steelyard.workloads.operations.model import Server

_FOR_ITS_OWNER = 0o600


def server_for(attempt: Attempt, instance: Instance, generator: Host, number: int = 1) -> Server:
    """Where the load goes; the file that this needs lies where the generator is.

    ``number`` is that of the generator among several.
    """
    server, session = instance.server(), attempt.session
    same_files = generator.boot_id == instance.host.boot_id and not instance.throwaway
    if server.authority is None or same_files:
        return server
    content = instance.host.read_file(server.authority)
    place = f"authority-{instance.number}" + ("" if number == 1 else f"-{number}")
    folder = session.folder_on(generator, place)
    machine = session.machines.address_of(generator)
    instance.undos.append((generator, session.undo.plan(machine, RemoveTree(folder))))
    generator.make_directory(folder)
    path = f"{folder}/authority.pem"
    generator.write_file(path, content, mode=_FOR_ITS_OWNER, create=True)
    return replace(server, authority=path)
