"""The files of the catalogue, which come with the program, as they are written."""

from __future__ import annotations

from importlib import resources
from importlib.machinery import SourceFileLoader
from importlib.resources.abc import Traversable
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from ruamel.yaml import YAML


def shipped(name: str) -> Traversable:
    """A file or a folder of the catalogue."""
    return resources.files("steelyard.catalogue").joinpath(name)


def text_of(file: Traversable) -> str:
    return file.read_text(encoding="utf-8")


def content_of(file: Traversable) -> Any:
    """What a file of YAML holds: who asks knows what that has to be.

    Python keeps it in ``__pycache__`` as it keeps compiled modules, and reads the file again when
    that has changed: parsing takes a hundred times as long as loading what was kept.
    """
    if not isinstance(file, Path):
        return _parsed(text_of(file))
    module = ModuleType(file.stem)
    _Kept(file.stem, str(file)).exec_module(module)
    return module.content


class _Kept(SourceFileLoader):
    """Reads YAML as a module of one name."""

    @staticmethod
    def source_to_code(data: Any, path: Any = "", *_: Any, **__: Any) -> CodeType:
        content = _parsed(bytes(data).decode("utf-8"))
        return compile(f"content = {content!r}", path, "exec")


def _parsed(text: str) -> Any:
    return YAML(typ="safe", pure=True).load(text)
