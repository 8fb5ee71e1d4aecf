"""The network itself: connects, requests and responses, streams."""

from __future__ import annotations

from collections.abc import Callable

from steelyard.study.settings import SettingsModel
from steelyard.study.workload.settings import (
    ExchangeSettings,
    StreamSettings,
    TcpStreamSettings,
    UdpStreamSettings,
)
from steelyard.workloads.operations.model import Document, Driven, bytes_per_s, maker

_DIRECTIONS = {"in": "send", "out": "receive", "both": "both"}


def _connect(_driven: Driven[SettingsModel]) -> Document:
    return {"protocol": "connect", "targets": []}


def _exchange(driven: Driven[ExchangeSettings]) -> Document:
    return {
        "protocol": "request_response",
        "request_bytes": driven.settings.request,
        "response_bytes": driven.settings.response,
        "connect_each": driven.settings.connect_each,
    }


def _stream(settings: StreamSettings) -> Document:
    return {
        "protocol": "stream",
        "direction": _DIRECTIONS[settings.direction],
        "bytes_per_s": bytes_per_s(settings.pace),
        "socket_buffer_bytes": settings.socket_buffer,
        "latency_probes_per_s": settings.latency_probes,
    }


def _tcp_stream(driven: Driven[TcpStreamSettings]) -> Document:
    settings = driven.settings
    return _stream(settings) | {
        "block_bytes": settings.block,
        "congestion": settings.congestion,
        "zero_copy": settings.zero_copy,
    }


def _udp_stream(driven: Driven[UdpStreamSettings]) -> Document:
    settings = driven.settings
    return _stream(settings) | {
        "block_bytes": settings.datagram,
        "segment_offload": settings.offload,
    }


def _at(scheme: str) -> Callable[[Driven[SettingsModel]], str]:
    return lambda driven: f"{scheme}://{driven.server.address}"


def _exchange_target(driven: Driven[ExchangeSettings]) -> str:
    return f"rr+{driven.settings.protocol}://{driven.server.address}"


MAKERS = {
    "tcp-connect": maker(SettingsModel, _at("tcp"), _connect),
    "request-response": maker(ExchangeSettings, _exchange_target, _exchange),
    "tcp-stream": maker(TcpStreamSettings, _at("stream+tcp"), _tcp_stream),
    "udp-stream": maker(UdpStreamSettings, _at("stream+udp"), _udp_stream),
}
