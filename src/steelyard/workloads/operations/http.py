"""HTTP/1.1 and HTTP/2: one request and its whole reply."""

from __future__ import annotations

from steelyard.study.workload.settings import HttpSettings
from steelyard.workloads.operations.model import Document, Driven, maker, target

_HOST = target("http", implicit="https")


def _target(driven: Driven[HttpSettings]) -> str:
    return _HOST(driven) + driven.settings.path


def _document(driven: Driven[HttpSettings]) -> Document:
    settings = driven.settings
    headers = [header.partition(":")[::2] for header in settings.headers]
    return {
        "protocol": "http",
        "method": settings.method,
        "headers": [[name.strip(), value.strip()] for name, value in headers],
        "body": settings.body,
        "keep_alive": settings.keep_alive,
        "version": settings.version,
        "requests_at_once": settings.requests_at_once,
        "paths": list(settings.paths),
        "verify": settings.verify,
    }


MAKERS = {"http": maker(HttpSettings, _target, _document)}
