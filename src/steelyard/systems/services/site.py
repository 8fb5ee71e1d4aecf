"""What a service finds on its machine: its programs, who starts it, how many processors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host
from steelyard.study.service.entry import Service
from steelyard.systems.services.certificate import PROGRAM

_LOOK_S = 20.0
_PATH = "PATH=$PATH:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_LOOK = f"""\
{_PATH}
id -u; id -un; id -gn; nproc || echo 1
for p; do
  case $p in
    */*) found=; for f in $p; do [ ! -e "$f" ] || found=$f; done; echo "$found" ;;
    *) command -v "$p" || echo ;;
  esac
done
"""
_ENTER = f"""\
{_PATH}
folder=$1; shift
command -v setpriv >/dev/null || exit 0
for user; do setpriv --reuid "$user" --clear-groups test -x "$folder" || echo "$user"; done
"""


@dataclass(frozen=True)
class Site:
    """``programs`` maps each program that was searched for to its path."""

    uid: int | None = None
    user: str = ""
    group: str = ""
    threads: str = "1"
    programs: Mapping[str, str] = field(default_factory=dict)

    def resolved(self, words: list[str]) -> list[str]:
        """A command whose program was searched for, by its path."""
        return [self.programs.get(words[0], words[0]), *words[1:]] if words else []

    def accounts(self, entry: Service) -> dict[str, str]:
        """Who the service runs as: its own accounts if root starts it, whoever starts it if not."""
        if self.uid == 0:
            return dict(entry.accounts)
        return {
            name: self.group if name.endswith("group") else self.user for name in entry.accounts
        }


def look(host: Host, entry: Service, use: str, *, certified: bool) -> Site:
    """Looks for what a service needs; the engine's own servers need nothing.

    Raises:
        SystemFailure: a program is missing (``tool_missing``), or root is (``no_rights``).
    """
    wanted = [*entry.requires, *([PROGRAM] if certified else [])]
    if not wanted and not entry.accounts and not entry.needs:
        return Site()
    ran = host.run(["sh", "-c", _LOOK, "sh", *wanted], timeout_s=_LOOK_S)
    lines = ran.stdout.split("\n")
    found = dict(zip(wanted, lines[4:], strict=False))
    missing = [name for name in wanted if not found.get(name)]
    if missing:
        raise _missing(host, entry, use, missing)
    site = Site(int(lines[0]), lines[1], lines[2], lines[3], found)
    if entry.needs == "root" and site.uid != 0:
        raise SystemFailure(
            "no_rights",
            f"{use} starts as root only, and the agent on {host.name} is user {site.user}",
            "run steelyard as root, or put the system on a platform that is root inside",
        )
    return site


def _missing(host: Host, entry: Service, use: str, missing: list[str]) -> SystemFailure:
    packages = "; ".join(f"{name}: {' '.join(words)}" for name, words in entry.packages.items())
    return SystemFailure(
        "tool_missing",
        f"{use} needs {', '.join(missing)}, which {host.name} does not have",
        f"install it there ({packages or 'the service file names no packages'}), "
        "or add that to `packages` of the image",
    )


def refuse_closed(host: Host, folder: str, users: list[str]) -> None:
    """Refuses a folder that one of the service's users cannot enter.

    Raises:
        SystemFailure: ``no_rights``, with the folder.
    """
    ran = host.run(["sh", "-c", _ENTER, "sh", folder, *dict.fromkeys(users)], timeout_s=_LOOK_S)
    closed = ran.stdout.split()
    if closed:
        raise SystemFailure(
            "no_rights",
            f"user {closed[0]} of the service cannot enter {folder}",
            "keep the results in a folder that others may enter, with --results",
        )
