"""A machine as it stands: everything on it that a run may have made or changed."""

from __future__ import annotations

from steelyard.engine.agent import AgentRefusal
from steelyard.engine.messages import Failure
from steelyard.hosts.host import Host
from steelyard.hosts.kernel_values import read_values
from steelyard.hosts.looks import looking
from steelyard.hosts.mounts import MOUNT_TABLE, read_mounts
from steelyard.hosts.undo.actions.tuned import active_profile

Environment = dict[str, dict[str, str]]
"""By kind of thing, by its name: how it is. A kind that the machine cannot list is not there."""

_TIMEOUT_S = 60.0
_SECTION = "### "
_LISTED = looking(r"""
say() { echo "### $1"; }
say 'loop device'
for d in /sys/block/loop*/loop/backing_file; do
  [ -e "$d" ] && { n=${d#/sys/block/}; echo "${n%%/*}	$(cat "$d")"; }
done
say array
[ -e /proc/mdstat ] && sed -n 's/^\(md[^ ]*\) : \(.*\)/\1	\2/p' /proc/mdstat
say interface
for d in /sys/class/net/*; do [ -e "$d" ] && echo "${d##*/}	$(cat "$d/address" 2>/dev/null)"; done
say 'network namespace'
for d in /run/netns/*; do [ -e "$d" ] && echo "${d##*/}	there"; done
say cgroup
find /sys/fs/cgroup -type d -name '*steelyard*' 2>/dev/null | sed 's/$/	there/'
say folder
find /tmp /var/tmp /run /dev/shm /etc/tuned -maxdepth 1 -name 'steelyard*' 2>/dev/null |
  sed 's/$/	there/'
if command -v podman >/dev/null; then
  say container
  podman ps --all --format '{{.Names}}	{{.ID}}' 2>/dev/null
fi
if docker=$(timeout 10 docker ps --all --no-trunc --format '{{.Names}}	{{.ID}}' 2>/dev/null); then
  say 'container of docker'
  echo "$docker"
fi
if command -v lxc-ls >/dev/null; then
  say 'container of lxc'
  lxc-ls -1 2>/dev/null | sed 's/ *$/	there/'
fi
if command -v virsh >/dev/null; then
  say domain
  virsh --connect qemu:///system --readonly list --all --name 2>/dev/null |
    sed '/^$/d; s/$/	there/'
fi
say daemon
grep -qsx tuned /proc/[0-9]*/comm && echo 'tuned	there'
mark=$(cat)
if [ -n "$mark" ]; then
  say process
  printf %s "$mark" | grep -laFf - /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null |
    cut -d/ -f3 | sort -un | while read -r pid; do
      echo "$pid	$(tr '\0' ' ' 2>/dev/null < "/proc/$pid/cmdline" | cut -c1-120)"
    done
fi
true
""")
"""Reads the mark on stdin: on a command line this shell itself would bear it."""


def snapshot(host: Host, mark: str = "") -> Environment:
    """Mounts, loop devices, arrays, interfaces, namespaces, containers, domains, cgroups, folders
    of ours, the profile of tuned, and every value of the kernel that can be written.

    ``mark`` is a text that the run's processes bear on their command line or in their environment.

    Raises:
        AgentRefusal: the machine cannot be listed.
    """
    ran = host.run(["sh", "-c", _LISTED], timeout_s=_TIMEOUT_S, stdin=mark)
    if not ran.succeeded or ran.stdout_truncated:
        message = f"cannot list what stands on the machine: the listing {ran.how_it_ended()}"
        raise AgentRefusal("run", Failure(kind="system", message=message))
    environment = parse_sections(ran.stdout)
    environment["mount"] = _mounts(host.read_file(MOUNT_TABLE))
    environment["value"] = read_values(host)
    # `tuned-adm` is a program of Python: without a daemon it takes 0.1 s and more to say so.
    profile = active_profile(host) if environment.pop("daemon", None) else None
    if profile is not None:
        environment["profile"] = {"tuned": profile or "off"}
    return environment


def parse_sections(listed: str) -> Environment:
    """From headings and lines ``NAME<tab>HOW IT IS``."""
    sections: Environment = {}
    names: dict[str, str] = {}
    for line in listed.splitlines():
        if line.startswith(_SECTION):
            names = sections.setdefault(line.removeprefix(_SECTION), {})
        elif "\t" in line:
            name, _, how = line.partition("\t")
            names[name] = how
    return sections


def _mounts(text: str) -> dict[str, str]:
    """By place; of several on one place each, since the lower ones come to light again."""
    mounts: dict[str, str] = {}
    for mount in read_mounts(text):
        said = f"{mount.source} ({mount.filesystem}: {','.join(mount.options)})"
        before = mounts.get(mount.mount_point)
        mounts[mount.mount_point] = said if before is None else f"{before}; over it {said}"
    return mounts
