"""How a machine is entered that starts from a disk of the user's own: by ``ssh``.

QEMU forwards a port of loopback, in the namespace it runs in, to the guest's ssh server, through a
card that is for control alone: what is measured goes through the other one.
"""

from __future__ import annotations

import re
import shlex
import time
from collections.abc import Sequence

from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host
from steelyard.hosts.ssh import NOT_YET, OPTIONS, open_through
from steelyard.hosts.tool import attempt, tell
from steelyard.hosts.transport import Way
from steelyard.hosts.undo.log import INSIDE
from steelyard.systems.qemu.cloud_init import KEY
from steelyard.systems.qemu.running import RunningMachine

BOOT_TIMEOUT_S = 600.0
NO_RIGHTS_TIMEOUT_S = 60.0
"""A server may let no one in until cloud-init has written the key; after this, it never will."""
_BETWEEN_TRIES_S = 1.0
_PATIENT = "-oConnectTimeout=60"
"""An emulated guest on a busy machine takes tens of seconds for a greeting. A try that is given up
before has cost it the processor time of one, and the next try finds it slower still.
"""
_KNOWN_HOSTS, _CONTROL = "known_hosts", "ssh.sock"
_FORWARD = re.compile(r"TCP\[HOST_FORWARD\]\s+\d+\s+127\.0\.0\.1\s+(\d+)\s")
_IN_FOLDER = 'cd "$1" && shift && exec ssh "$@"'
_SETTLED = """command -v cloud-init >/dev/null || exit 0
cloud-init status --wait >/dev/null
"""
"""Ends when cloud-init has done all it does at the first start; how well is the guest's affair."""
_JOIN_LAB = """for card in /sys/class/net/*; do
  [ "$(cat "$card/address")" = "$1" ] || continue
  name=${card##*/}
  ip link set "$name" up && ip address replace "$2" dev "$name" &&
    ip route replace default via "$3" dev "$name"
  exit
done
echo "the guest sees no network card $1" >&2
exit 9
"""


class SshConsole:
    """Opens agents in one running machine. ``enter`` are words before all that reaches it."""

    def __init__(self, running: RunningMachine, enter: list[str], key: str | None) -> None:
        self._running = running
        self._enter = enter
        self._key = key
        self._port = forwarded_port(_told_of_network(running))
        tell(running.host_machine, ["rm", "-f", "--", f"{running.machine.folder}/{_KNOWN_HOSTS}"])

    def open(self) -> Host:
        """An agent inside, when the guest lets one in.

        Raises:
            SystemFailure: ``not_ready`` when none answers in time, with the end of the console;
                ``no_rights`` when the guest goes on refusing the key.
        """
        label, patience = self._running.machine.label, self._running.host_machine.patience
        deadline_s = time.monotonic() + BOOT_TIMEOUT_S
        refused_until_s: float | None = None
        while True:
            try:
                return open_through(INSIDE + label, self._ssh, _CONTROL, patience)
            except SystemFailure as failure:
                now_s = time.monotonic()
                if failure.kind == "no_rights":
                    refused_until_s = refused_until_s or now_s + NO_RIGHTS_TIMEOUT_S
                last, over = failure, now_s > (refused_until_s or deadline_s)
                if failure.kind not in NOT_YET or over or not self._running.runs():
                    raise self._explained(last) from failure
            patience.pause(_BETWEEN_TRIES_S)

    def _explained(self, failure: SystemFailure) -> SystemFailure:
        console = self._running.console() or failure.last_words
        if failure.kind == "no_rights":
            hint = "give the system a `key` that lets root in, or take an image with cloud-init"
            return SystemFailure("no_rights", failure.message, hint, last_words=console)
        if failure.kind not in NOT_YET:
            return failure
        message = f"the guest {self._running.machine.label} is not reached: {failure.message}"
        hint = "it needs an ssh server and an address by DHCP on its first network card"
        return SystemFailure("not_ready", message, hint, last_words=console)

    def _ssh(self, options: Sequence[str]) -> Way:
        """Through ``ssh`` on the host, in the machine's folder: paths of sockets are short.

        No one stands between QEMU's port and the guest, which may make its host key at its first
        start: the key of each start is taken, and has to stay the same until the next.
        """
        keys = ["-i", KEY, *([] if self._key is None else ["-i", self._key])]
        trust = [
            *("-oStrictHostKeyChecking=accept-new", f"-oUserKnownHostsFile={_KNOWN_HOSTS}"),
            *("-oGlobalKnownHostsFile=none", "-oLogLevel=ERROR", f"-oPort={self._port}"),
        ]

        def way(argv: Sequence[str]) -> list[str]:
            words = [
                _PATIENT,
                *OPTIONS,
                *trust,
                *keys,
                *options,
                "--",
                "root@127.0.0.1",
                shlex.join(argv),
            ]
            folder = self._running.machine.folder
            return self._running.host_machine.way(
                [*self._enter, "sh", "-c", _IN_FOLDER, "sh", folder, *words]
            )

        return way


def settle(inside: Host) -> None:
    """Waits until cloud-init has ended: what it does would be measured, too.

    Raises:
        SystemFailure: ``timed_out``.
    """
    attempt(inside, ["sh", "-c", _SETTLED], timeout_s=BOOT_TIMEOUT_S)


def join_lab(inside: Host, running: RunningMachine) -> None:
    """Gives the card that is measured its address on the lab network.

    Raises:
        SystemFailure: ``image_unusable``: the guest's kernel does not drive that card.
    """
    machine = running.machine
    words = ["sh", "-c", _JOIN_LAB, "sh", machine.nic.mac, machine.address, machine.gateway]
    ran = attempt(inside, words, timeout_s=60)
    if not ran.succeeded:
        message = f"{machine.label} cannot take its address: {ran.stderr.strip()}"
        raise SystemFailure("image_unusable", message, "try another `nic`")


def forwarded_port(told: str) -> int:
    """The port of loopback that leads to the guest's ssh server, of ``info usernet``.

    Raises:
        SystemFailure: QEMU names none.
    """
    found = _FORWARD.search(told)
    if found is None:
        raise SystemFailure("tool_failed", f"QEMU reports no forwarded port: {told!r}")
    return int(found[1])


def _told_of_network(running: RunningMachine) -> str:
    order = {"command-line": "info usernet"}
    return str(running.qmp().execute("human-monitor-command", order))
