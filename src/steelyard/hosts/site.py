"""What stands on a machine: programs, who the agent is there, how many processors.

Texts of service and workload files are filled with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host
from steelyard.hosts.looks import looking
from steelyard.study.declared.placeholders import Quote, TemplateError, Value, as_it_is, fill

LOOK_S = 20.0
_INSIDE = "inside:"
"""How the names of hosts begin that are made of an image."""
PATH = "PATH=$PATH:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_LOOK = looking(f"""\
{PATH}
id -u; id -un; id -gn; nproc || echo 1
for p; do
  case $p in
    */*) found=; for f in $p; do [ ! -e "$f" ] || found=$f; done; echo "$found" ;;
    *) command -v "$p" || echo ;;
  esac
done
""")


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


def look_around(
    host: Host,
    use: str,
    programs: Sequence[str],
    packages: Mapping[str, Sequence[str]],
    *,
    root: bool,
) -> Site:
    """Looks for what a service or a tool called ``use`` needs.

    Raises:
        SystemFailure: a program is missing (``tool_missing``), or root is (``no_rights``).
    """
    ran = host.run(["sh", "-c", _LOOK, "sh", *programs], timeout_s=LOOK_S)
    lines = ran.stdout.split("\n")
    found = dict(zip(programs, lines[4:], strict=False))
    missing = [name for name in programs if not found.get(name)]
    if missing:
        raise _missing(host, use, missing, packages)
    site = Site(int(lines[0]), lines[1], lines[2], lines[3], found)
    if root and site.uid != 0:
        raise SystemFailure(
            "no_rights",
            f"{use} starts as root only, and the agent on {host.name} is user {site.user}",
            "run steelyard as root, or put the system on a platform that is root inside",
        )
    return site


def _missing(
    host: Host, use: str, missing: list[str], packages: Mapping[str, Sequence[str]]
) -> SystemFailure:
    words = "; ".join(f"{name}: {' '.join(each)}" for name, each in packages.items())
    named = f" ({words})" if words else ""
    image = ", or add that to `packages` of the image" if host.name.startswith(_INSIDE) else ""
    return SystemFailure(
        "tool_missing",
        f"{use} needs {', '.join(missing)}, which {host.name} does not have",
        f"install it there{named}{image}",
    )


def filled(text: str, values: Mapping[str, Value], quote: Quote = as_it_is) -> str:
    """The text with every placeholder filled.

    Raises:
        SystemFailure: ``not_supported``: a value is not there, or does not come out even in a unit.
    """
    try:
        return fill(text, values, quote)
    except TemplateError as error:
        raise SystemFailure("not_supported", error.message, error.hint) from error
