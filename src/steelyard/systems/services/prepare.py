"""What is done before a service starts: files, content, certificate, commands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from posixpath import dirname
from typing import Literal

from steelyard.engine.agent import AgentRefusal
from steelyard.engine.messages import Failure, complaint
from steelyard.hosts.host import Host
from steelyard.hosts.site import Site, filled
from steelyard.study.declared.conditions import holds
from steelyard.study.model import ServiceSpec
from steelyard.study.service.entry import Service, SharedSettings
from steelyard.systems.services import certificate, content
from steelyard.systems.services.site import refuse_closed

PREPARE_S = 120.0


@dataclass(frozen=True)
class Prepared:
    """All that is known of a service before it starts."""

    host: Host
    spec: ServiceSpec
    entry: Service
    site: Site
    folder: str
    values: Mapping[str, str]

    def filled(self, words: tuple[str, ...]) -> list[str]:
        """A command with its placeholders filled and its program by its path."""
        return self.site.resolved([filled(word, self.values) for word in words])


def certified(entry: Service, spec: ServiceSpec) -> bool:
    """Whether a certificate is made for the service."""
    return entry.certificate is not None and spec.settings.get(entry.certificate) != "none"


def prepare(service: Prepared) -> None:
    """Everything in its order; a command that fails ends it.

    Raises:
        AgentRefusal: a file cannot be written, or a command failed.
        SystemFailure: the folder cannot be used by this service.
    """
    _check_folder(service)
    _write_files(service)
    _make_content(service)
    if certified(service.entry, service.spec):
        _certify(service)
    for step in service.entry.prepare:
        if holds(step.when, service.spec.settings):
            run(service, service.filled(step.run))


def run(
    service: Prepared,
    argv: list[str],
    *,
    stdin: str | None = None,
    timeout_s: float = PREPARE_S,
    does: Literal["prepares", "waits for"] = "prepares",
) -> str:
    """Runs a command of the service to its end; what it wrote.

    Raises:
        AgentRefusal: it failed; its last words are in the message.
    """
    ran = service.host.run(argv, timeout_s=timeout_s, stdin=stdin, directory=service.folder)
    if ran.exit_code == 0 and not ran.timed_out:
        return ran.stdout
    said = (complaint(ran.stderr, ran.stdout) or "nothing").splitlines()[-1].strip()
    how = "took too long" if ran.timed_out else f"ended with {_end(ran.exit_code, ran.signal)}"
    usual = "not_ready" if does == "waits for" else "system"
    kind = "disk_full" if "No space left" in said else usual
    message = f"`{argv[0]}`, which {does} {service.spec.use}, {how} and said: {said}"
    raise AgentRefusal("run", Failure(kind=kind, message=message))


def _end(exit_code: int | None, signal: int | None) -> str:
    return f"signal {signal}" if exit_code is None else f"exit code {exit_code}"


def _check_folder(service: Prepared) -> None:
    users = [name for key, name in service.entry.accounts.items() if not key.endswith("group")]
    if users and service.site.uid == 0:
        refuse_closed(service.host, service.folder, users)


def _write_files(service: Prepared) -> None:
    for file in service.entry.files:
        if not holds(file.when, service.spec.settings):
            continue
        path = filled(file.at, service.values)
        service.host.make_directory(dirname(path))
        mode = None if file.mode is None else int(file.mode, 8)
        text = filled(file.content, service.values)
        service.host.write_file(path, text, mode=mode, create=True)


def _make_content(service: Prepared) -> None:
    if not service.entry.content:
        return
    block_file = f"{service.folder}/content-block"
    seed = SharedSettings.of(service.spec.settings).seed or 1
    service.host.write_file(block_file, content.block(seed), create=True)
    for made in service.entry.content:
        script = content.script(
            made,
            service.spec.settings,
            service.values,
            block_file=block_file,
            owner=_owner(service),
        )
        run(service, ["sh", "-s"], stdin=script)


def _owner(service: Prepared) -> str | None:
    if service.site.uid != 0 or "user" not in service.values:
        return None
    group = service.values.get("group", "")
    return f"{service.values['user']}:{group}"


def _certify(service: Prepared) -> None:
    config = certificate.config(service.values["address"])
    service.host.write_file(f"{service.folder}/openssl.cnf", config, create=True)
    run(service, service.site.resolved(certificate.argv(service.folder)))
