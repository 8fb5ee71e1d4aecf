"""The machines of two runs in words."""

from __future__ import annotations

from collections.abc import Iterator

from steelyard.history.point import RunPoint


def machine_lines(a: RunPoint, b: RunPoint) -> Iterator[str]:
    """Host and kernel, where they are not the same in both runs."""
    kernels = (a.host and a.host.kernel, b.host and b.host.kernel)
    for name, one, other in (("host", host_text(a), host_text(b)), ("kernel", *kernels)):
        if one != other:
            yield f"{name}: {one or 'not recorded'} and {other or 'not recorded'}"


def host_text(run: RunPoint) -> str:
    """``lab1, AMD EPYC, 2 processors (3f2a9c01)``."""
    host = run.host
    if host is None:
        return "not recorded"
    count = f"{host.processors} processors" if host.processors else None
    known = ", ".join(filter(None, (host.name, host.cpu, count)))
    return f"{known} ({host.fingerprint})" if known else host.fingerprint
