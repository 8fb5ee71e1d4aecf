"""FTP: one login, transfer or listing."""

from __future__ import annotations

from steelyard.study.workload.settings import FtpSettings
from steelyard.workloads.operations.model import (
    Document,
    Driven,
    bytes_per_s,
    login,
    maker,
    starttls,
    target,
    weights,
)

_HOST = target("ftp", implicit="ftps")
_PASSIVE = {"auto": "epsv_then_pasv", "epsv": "epsv", "pasv": "pasv"}


def _target(driven: Driven[FtpSettings]) -> str:
    return _HOST(driven) + "/"


def _document(driven: Driven[FtpSettings]) -> Document:
    settings = driven.settings
    actions = weights(settings.actions) or {settings.do: 1.0}
    return {
        "protocol": "ftp",
        "login": login(driven),
        "actions": actions,
        "download": _files(driven) if "download" in actions else [],
        "folder": settings.folder,
        "upload_bytes": settings.file,
        "delete_uploads": settings.delete_uploads,
        "starttls": starttls(settings),
        "passive": _PASSIVE[settings.passive],
        "transfers_per_connection": settings.transfers_per_connection,
        "user_bytes_per_s": round(bytes_per_s(settings.user_rate)),
        "least_share": settings.least_share,
        "verify": settings.verify,
    }


def _files(driven: Driven[FtpSettings]) -> list[str]:
    """Files to download: the engine's own server has one of every size."""
    return list(driven.settings.paths) or [f"/bytes/{driven.settings.file}"]


MAKERS = {"ftp": maker(FtpSettings, _target, _document)}
