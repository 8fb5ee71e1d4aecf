"""Small files through ftpbench's own `connect` and `retr`, without its phases of large files.

usage: ftpbench_small.py FTPBENCH PORT NAME CONNECTIONS SECONDS
"""

from __future__ import annotations

import itertools
import sys
import time
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader


def main() -> None:
    """Retrieves the file over all connections in turn, and prints how often."""
    path, port, name, connections, seconds = sys.argv[1:]
    spec = spec_from_loader("ftpbench", SourceFileLoader("ftpbench", path))
    assert spec is not None
    assert spec.loader is not None
    peer = module_from_spec(spec)
    spec.loader.exec_module(peer)
    settings = {"HOST": "127.0.0.1", "PORT": int(port), "TESTFN": name, "SSL": False}
    vars(peer).update(settings, USER="anonymous", PASSWORD="")
    clients = [peer.connect() for _ in range(int(connections))]
    before, begun, files = time.process_time(), time.monotonic(), 0
    for client in itertools.cycle(clients):
        peer.retr(client)
        files += 1
        if time.monotonic() - begun >= float(seconds):
            break
    print(f"{files} files in {time.monotonic() - begun:.6f} s, {before:.6f} s of CPU before")


main()
