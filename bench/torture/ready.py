"""Loaded last by the process that controllers are forked from: what each would build is built."""

from __future__ import annotations

import gc
from collections.abc import Iterator

from pydantic import BaseModel


def _kinds(of: type[BaseModel]) -> Iterator[type[BaseModel]]:
    for kind in of.__subclasses__():
        yield kind
        yield from _kinds(kind)


for each in list(_kinds(BaseModel)):
    each.model_rebuild(raise_errors=False)
gc.freeze()
