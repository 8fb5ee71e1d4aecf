"""The words for what can go wrong with a place, which files of platforms may name, too."""

from __future__ import annotations

from typing import Literal, get_args

FailureKind = Literal[
    "image_missing",
    "image_unusable",
    "tool_missing",
    "no_rights",
    "no_space",
    "name_taken",
    "not_supported",
    "host_key",
    "engine_unfit",
    "tool_failed",
    "not_ready",
    "unreachable",
    "timed_out",
    "reset_not_proved",
]
FAILURE_KINDS: tuple[FailureKind, ...] = get_args(FailureKind)
