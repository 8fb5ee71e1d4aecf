"""What a service finds on its machine: its programs, who starts it, whether it may enter."""

from __future__ import annotations

from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host
from steelyard.hosts.looks import looking
from steelyard.hosts.site import LOOK_S, PATH, Site, look_around
from steelyard.study.service.entry import Service
from steelyard.systems.services.certificate import PROGRAM

_ENTER = looking(f"""\
{PATH}
folder=$1; shift
command -v setpriv >/dev/null || exit 0
for user; do setpriv --reuid "$user" --clear-groups test -x "$folder" || echo "$user"; done
""")


def accounts(site: Site, entry: Service) -> dict[str, str]:
    """Who the service runs as: its own accounts if root starts it, whoever starts it if not."""
    if site.uid == 0:
        return dict(entry.accounts)
    return {name: site.group if name.endswith("group") else site.user for name in entry.accounts}


def look(host: Host, entry: Service, use: str, *, certified: bool) -> Site:
    """Looks for what a service needs; the engine's own servers need nothing.

    Raises:
        SystemFailure: a program is missing (``tool_missing``), or root is (``no_rights``).
    """
    wanted = [*entry.requires, *([PROGRAM] if certified else [])]
    if not wanted and not entry.accounts and not entry.needs:
        return Site()
    return look_around(host, use, wanted, entry.packages, root=entry.needs == "root")


def refuse_closed(host: Host, folder: str, users: list[str]) -> None:
    """Refuses a folder that one of the service's users cannot enter.

    Raises:
        SystemFailure: ``no_rights``, with the folder.
    """
    ran = host.run(["sh", "-c", _ENTER, "sh", folder, *dict.fromkeys(users)], timeout_s=LOOK_S)
    closed = ran.stdout.split()
    if closed:
        raise SystemFailure(
            "no_rights",
            f"user {closed[0]} of the service cannot enter {folder}",
            "keep the results in a folder that others may enter, with --results",
        )
