"""The files of the catalogue, which come with the program, as they are written."""

from __future__ import annotations

from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any

from ruamel.yaml import YAML


def shipped(name: str) -> Traversable:
    """A file or a folder of the catalogue."""
    return resources.files("steelyard.catalogue").joinpath(name)


def text_of(file: Traversable) -> str:
    return file.read_text(encoding="utf-8")


def content_of(file: Traversable) -> Any:
    """What a file of YAML holds: who asks knows what that has to be."""
    return YAML(typ="safe", pure=True).load(text_of(file))
