"""HTTP/1.1 and HTTP/2: one request and its whole reply."""

from __future__ import annotations

from steelyard.workloads.operations.model import Driven, Operation, Row, target

_HOST = target("http", implicit="https")


def _target(driven: Driven) -> str:
    return _HOST(driven) + str(driven.settings["path"])


def _operation(driven: Driven) -> Operation:
    settings = driven.settings
    headers = [header.partition(":")[::2] for header in settings["headers"]]
    return {
        "protocol": "http",
        "method": settings["method"],
        "headers": [[name.strip(), value.strip()] for name, value in headers],
        "body": settings["body"],
        "keep_alive": settings["keep_alive"],
        "version": settings["version"],
        "requests_at_once": settings["requests_at_once"],
        "paths": list(settings["paths"]),
        "verify": settings["verify"],
    }


ROWS = {"http": Row(_target, _operation)}
