"""The network itself: connects, requests and responses, streams."""

from __future__ import annotations

from steelyard.workloads.operations.model import Driven, Operation, Row, bytes_per_s

_DIRECTIONS = {"in": "send", "out": "receive", "both": "both"}


def _connect(_driven: Driven) -> Operation:
    return {"protocol": "connect", "targets": []}


def _exchange(driven: Driven) -> Operation:
    return {
        "protocol": "request_response",
        "request_bytes": driven.settings["request"],
        "response_bytes": driven.settings["response"],
        "connect_each": driven.settings["connect_each"],
    }


def _stream(driven: Driven) -> Operation:
    settings = driven.settings
    return {
        "protocol": "stream",
        "direction": _DIRECTIONS[settings["direction"]],
        "bytes_per_s": bytes_per_s(settings["pace"]),
        "socket_buffer_bytes": settings["socket_buffer"],
        "latency_probes_per_s": float(settings["latency_probes"]),
    }


def _tcp_stream(driven: Driven) -> Operation:
    settings = driven.settings
    return _stream(driven) | {
        "block_bytes": settings["block"],
        "congestion": settings["congestion"],
        "zero_copy": settings["zero_copy"],
    }


def _udp_stream(driven: Driven) -> Operation:
    settings = driven.settings
    return _stream(driven) | {
        "block_bytes": settings["datagram"],
        "segment_offload": settings["offload"],
    }


ROWS = {
    "tcp-connect": Row(lambda driven: f"tcp://{driven.server.address}", _connect),
    "request-response": Row(
        lambda driven: f"rr+{driven.settings['protocol']}://{driven.server.address}", _exchange
    ),
    "tcp-stream": Row(lambda driven: f"stream+tcp://{driven.server.address}", _tcp_stream),
    "udp-stream": Row(lambda driven: f"stream+udp://{driven.server.address}", _udp_stream),
}
