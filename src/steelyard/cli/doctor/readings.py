"""What ``steelyard doctor`` reads of a machine now, besides the facts that every trial records."""

from __future__ import annotations

from steelyard.engine.agent import AgentRefusal
from steelyard.hosts.host import Host
from steelyard.systems.qemu.accelerator import kvm_fails
from steelyard.systems.qemu.command_line import QEMU

Facts = dict[str, str | None]

_TIMEOUT_S = 60.0
_READ = r"""
put() { [ -n "$2" ] && printf '%s=%s\n' "$1" "$2"; }
stat() { awk '/^cpu /{s=$9; t=0; for (i=2;i<=9;i++) t+=$i; print s, t}' /proc/stat; }
put load.average "$(cut -d' ' -f1 /proc/loadavg)"
some() { sed -n 's/^some avg10=\([0-9.]*\).*/\1/p' "/proc/pressure/$1" 2>/dev/null; }
for what in cpu io memory; do put "pressure.$what" "$(some $what)"; done
put swap.used_kib "$(awk '/^SwapTotal/{t=$2} /^SwapFree/{print t-$2}' /proc/meminfo)"
set -- $(stat); sleep 0.5
put steal.share "$(stat | awk -v s=$1 -v t=$2 '$2>t{print ($1-s)/($2-t)}')"
put clock.synchronised "$(timedatectl show -p NTPSynchronized --value 2>/dev/null)"
updaters='apt|apt-get|dpkg|unattended-upgr|packagekitd|dnf|yum|zypper|pacman|snapd|updatedb'
names() { cat /proc/[0-9]*/comm 2>/dev/null | LC_ALL=C sort -u; }
put updaters "$(names | grep -xE "$updaters" | xargs)"
put timers "$(systemctl list-timers --no-legend --output=json 2>/dev/null \
  | grep -o '"unit":"[^"]*"' | cut -d'"' -f4 | head -n 12 | xargs)"
hypervisor=$(LC_ALL=C lscpu 2>/dev/null | sed -n 's/^Hypervisor vendor: *//p')
put virtualization.told_by_processor "$hypervisor"
if command -v docker >/dev/null; then
  put docker.server "$(timeout 10 docker version --format '{{.Server.Version}}' 2>/dev/null)"
fi
kvm=absent; [ -e /dev/kvm ] && kvm='not permitted'; [ -w /dev/kvm ] && kvm=permitted
put kvm "$kvm"
cache="${XDG_CACHE_HOME:-$HOME/.cache}"
put guest_kernel "$(ls "$cache"/steelyard/images/*/kernel 2>/dev/null | head -n 1)"
put kvm.nested "$(cat /sys/module/kvm_*/parameters/nested 2>/dev/null | head -n 1)"
throttled=/sys/devices/system/cpu/cpu*/thermal_throttle/core_throttle_count
put throttled "$(cat $throttled 2>/dev/null | awk '{n+=$1} END{if (NR) print n}')"
qemu='qemu-system-x86_64 qemu-system-aarch64'
for tool in podman $qemu systemd-nspawn virsh docker fio iperf3 sysbench; do
  command -v $tool >/dev/null && put "tool.$tool" "$($tool --version 2>&1 | head -n 1)"
done
true
"""


def read_now(host: Host) -> Facts:
    """The facts of a machine, and what it does now; what it does not tell is missing.

    Raises:
        AgentRefusal: the machine has no shell.
    """
    ran = host.run(["sh", "-c", _READ], timeout_s=_TIMEOUT_S)
    found = dict(host.facts()) | parse(ran.stdout)
    kernel = found.pop("guest_kernel", None)
    return found | _kvm(host, found, kernel)


def _kvm(host: Host, found: Facts, kernel: str | None) -> Facts:
    """Whether KVM works, by a tiny guest where there is QEMU: a device tells little. Also with the
    ``kernel`` of an image, where one was built.
    """
    if found.get("kvm") != "permitted" or f"tool.{QEMU}" not in found:
        return {}
    failure = kvm_fails(host, kernel)
    return {"kvm": "usable" if failure is None else f"does not work: {failure}"}


def facts_now(host: Host) -> Facts:
    """As :func:`read_now`; the facts alone where nothing can be run."""
    try:
        return read_now(host)
    except AgentRefusal:
        return dict(host.facts())


def parse(printed: str) -> Facts:
    """From lines ``NAME=VALUE``."""
    rows = (line.partition("=") for line in printed.splitlines())
    return {name: value.strip() for name, _, value in rows if value.strip()}
