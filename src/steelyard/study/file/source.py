"""The bytes of a study file as plain values, with the line and column of every one of them.

Scalars are read as YAML 1.2 reads them: ``off``, ``on``, ``yes`` and ``no`` are words, only
``true`` and ``false`` are booleans, and every key is a word.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from steelyard.errors import Complaint, StudyError

Where = tuple[str | int, ...]
Place = tuple[int, int]

_INT = re.compile(r"[-+]?(?:0|[1-9][0-9]{0,17})", re.ASCII)
_FLOAT = re.compile(r"[-+]?[0-9]{1,18}\.[0-9]{1,18}", re.ASCII)
_TAG = re.compile(r"![^\s,\[\]{}]*")
_WORDS: dict[str, object] = {"true": True, "false": False, "null": None, "~": None, "": None}
_FIRST_KEYS = {
    "study": "`study: my-first`, `question: ...`, `systems: ...`",
    "platform": "`summary: ...`, `resets: [service]`, `driver: command_line`, `commands: ...`",
    "service": "`summary: ...`, `speaks: [...]`, `command: [...]`, `settings: {...}`",
    "workload": "`summary: ...`, `settings: {...}`, `command: [...]`, `metrics: {...}`",
    "recipe": "`summary: ...`, `distribution: debian`, `suite: ...`, `packages: [...]`",
}
_BEGINNINGS = {
    "study": "`steelyard init` writes a commented study",
    "platform": "docs/guide/add-a-platform.md begins with an example",
    "service": "docs/guide/add-a-service.md begins with an example",
    "workload": "docs/guide/add-a-workload.md begins with an example",
    "recipe": "docs/reference/image-recipe.md begins with an example",
}
_MOST_VALUES = 100_000
_MOST_BYTES = 1_000_000


@dataclass(frozen=True)
class Source:
    """A study file as read: ``tree`` of plain values, and where each value and key stands.

    With a ``variant`` its changes are already in the tree, at their own places in the file.
    """

    path: Path
    raw: bytes
    tree: dict[str, object]
    values: dict[Where, Place] = field(repr=False)
    keys: dict[Where, Place] = field(repr=False)
    variant: str | None = None

    def part(self, *where: str | int) -> object:
        """What stands at a place of the tree; an empty mapping where there is nothing."""
        part: object = self.tree
        for key in where:
            part = part.get(key, {}) if isinstance(part, dict) else {}
        return part

    def sha256(self, further: tuple[str, ...] = ()) -> str:
        """Hash of the bytes as read, followed by the name of the variant and ``further`` texts."""
        texts = [self.variant or "", *further]
        return hashlib.sha256(self.raw + "".join(texts).encode()).hexdigest()


def study_path(path: Path) -> Path:
    """The study file itself: ``path``, or ``study.yaml`` in it when it is a folder."""
    return path / "study.yaml" if path.is_dir() else path


def read_source(path: Path, what: str = "study") -> Source:
    """Reads a study file, or the ``study.yaml`` of a folder. Raises ``StudyError``."""
    file = study_path(path)
    try:
        raw = file_bytes(file)
    except FileNotFoundError:
        raise _stop(file, "there is no such file", _not_there(path, what)) from None
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        hint = "give a regular file" if error.errno == errno.EINVAL else "check its permissions"
        raise _stop(file, f"cannot be read: {reason}", hint) from None
    return parse_source(raw, file, what)


def file_bytes(file: Path) -> bytes:
    """The bytes of a regular file, one more than is read of one that is too large at most.

    Raises:
        OSError: it cannot be read; ``EINVAL``: it is a pipe or a device, which may never end.
    """
    with open(file, "rb", opener=_without_waiting) as opened:
        return opened.read(_MOST_BYTES + 1)


def _without_waiting(path: str, flags: int) -> int:
    """A pipe without a writer would be waited for; a device is not even opened."""
    mode = Path(path).stat().st_mode
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise OSError(errno.EINVAL, "it is a pipe, a socket or a device, not a regular file", path)
    return os.open(path, flags | os.O_NONBLOCK)


def _not_there(path: Path, what: str) -> str:
    """The hint for a path without a file."""
    if what != "study":
        return "check the path"
    inside = "; a folder must hold a file `study.yaml`" if path.is_dir() else ""
    return f"check the path{inside}, or write a first study with `steelyard init`"


def parse_source(raw: bytes, path: Path, what: str = "study") -> Source:
    """The same from bytes; ``path`` is only named in complaints, ``what`` the file describes."""
    text = _decode(raw, path, what)
    node = _compose(text, path, what)
    reader = _Reader(path, what)
    tree = reader.read(node, (), ())
    reader.complaints += _tags(text, path)
    if reader.complaints:
        raise StudyError(reader.complaints)
    if not isinstance(tree, dict):
        hint = f"write keys and values: {_FIRST_KEYS[what]}"
        raise _stop(path, f"a {what} is a mapping of keys to values", hint, _place(node))
    return Source(path, raw, tree, reader.values, reader.keys)


def _stop(path: Path, message: str, hint: str, place: Place = (1, 1)) -> StudyError:
    return StudyError([Complaint(path, place[0], place[1], message, hint)])


def _decode(raw: bytes, path: Path, what: str) -> str:
    if len(raw) > _MOST_BYTES:
        raise _stop(path, f"too large for a {what} file", "is this the right file?")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = raw[: error.start].decode("utf-8-sig")
        line = before.count("\n") + 1
        column = len(before) - (before.rfind("\n") + 1) + 1
        message = f"byte 0x{raw[error.start]:02x} is not UTF-8"
        raise _stop(path, message, "save the file as UTF-8", (line, column)) from None
    if not text.strip():
        raise _stop(path, "the file is empty", _BEGINNINGS[what])
    return text


def _compose(text: str, path: Path, what: str) -> Node:
    try:
        node: Node | None = YAML(typ="safe", pure=True).compose(text)
    except MarkedYAMLError as error:
        raise _syntax_error(error, path, what) from None
    except RecursionError:
        raise _stop(path, "nested too deeply", f"a {what} file needs only a few levels") from None
    except YAMLError as error:
        line, column = _character_place(text)
        message = f"not readable as YAML: {str(error).strip().splitlines()[0]}"
        raise _stop(path, message, "remove control characters", (line, column)) from None
    if node is None:
        raise _stop(path, "the file holds only comments", _BEGINNINGS[what])
    return node


def _tags(text: str, path: Path) -> Iterator[Complaint]:
    """Every tag: it would be dropped, and with it what its author meant by it.

    Events tell what was written; nodes have a tag always.
    """
    if "!" not in text:
        return
    for event in YAML(typ="safe", pure=True).parse(text):
        if getattr(event, "tag", None) is not None:
            mark = event.start_mark
            written = _TAG.search(text, mark.index)
            shown = written[0] if written else event.tag
            hint = "take it out, or put quotes around a text that begins with `!`"
            message = f"tags are not supported: `{shown}`"
            yield Complaint(path, mark.line + 1, mark.column + 1, message, hint)


def _character_place(text: str) -> Place:
    match = re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]", text)
    before = text[: match.start()] if match else ""
    return before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1


_SYNTAX_HINTS = [
    ("character '\\t'", "indent with spaces; tabs cannot indent YAML"),
    ("mapping values are not allowed", "put quotes around a text that holds a colon"),
    ("expected ',' or", "a bracket is not closed, or a comma is missing"),
    ("unexpected end of stream", "a quotation mark is not closed"),
    ("expected the node content", "a bracket is not closed"),
    ("undefined alias", "put quotes around a text that begins with `*`"),
    ("cannot start any token", "put quotes around a text that begins with this character"),
    ("expected <block end>", "check the indentation: keys of one mapping begin in one column"),
    ("could not find expected ':'", "a key needs a colon and a space behind it"),
    ("another document", "a {what} file has one document; remove `---`"),
]


def _syntax_error(error: MarkedYAMLError, path: Path, what: str) -> StudyError:
    problem = str(error.problem or error.context or "syntax error")
    mark = error.problem_mark or error.context_mark
    if "end>" in problem or "end of stream" in problem:
        mark = error.context_mark or mark  # where it was opened says more than where it ends
    place = (mark.line + 1, mark.column + 1) if mark else (1, 1)
    context = f" {error.context}" if error.context and error.problem else ""
    hints = (hint for part, hint in _SYNTAX_HINTS if part in problem)
    hint = next(hints, "check brackets, quotes and indentation near this place")
    advice = hint.replace("{what}", what)
    return _stop(path, f"not valid YAML: {problem}{context}", advice, place)


def _place(node: Node) -> Place:
    return node.start_mark.line + 1, node.start_mark.column + 1


class _Reader:
    """Walks the nodes; notes places and complains of what such a file cannot hold."""

    def __init__(self, path: Path, what: str) -> None:
        self.path = path
        self.what = what
        self.values: dict[Where, Place] = {}
        self.keys: dict[Where, Place] = {}
        self.complaints: list[Complaint] = []

    def read(self, node: Node, where: Where, above: tuple[int, ...]) -> object:
        if id(node) in above or len(self.values) > _MOST_VALUES:
            raise _stop(self.path, "an alias repeats without end", "write it out", _place(node))
        self.values[where] = _place(node)
        if isinstance(node, ScalarNode):
            return self._scalar(node)
        inside = (*above, id(node))
        if isinstance(node, SequenceNode):
            return [self.read(item, (*where, i), inside) for i, item in enumerate(node.value)]
        return self._mapping(node, where, inside) if isinstance(node, MappingNode) else None

    def _mapping(
        self, node: MappingNode, where: Where, inside: tuple[int, ...]
    ) -> dict[str, object]:
        mapping: dict[str, object] = {}
        for key, value in node.value:
            if not isinstance(key, ScalarNode):
                self._complain(key, "a key must be a word", "write `name: value`")
            elif str(key.value) in mapping:
                first = self.keys[(*where, str(key.value))]
                hint = f"the first is in line {first[0]}; keep one of them"
                self._complain(key, f"key `{key.value}` is given twice", hint)
            elif key.value == "<<":
                shared = ", or use `defaults:` for what all systems share"
                hint = f"write the keys out{shared if self.what == 'study' else ''}"
                self._complain(key, f"`<<` is not supported in a {self.what} file", hint)
            else:
                self.keys[(*where, str(key.value))] = _place(key)
                mapping[str(key.value)] = self.read(value, (*where, str(key.value)), inside)
        return mapping

    def _scalar(self, node: ScalarNode) -> object:
        text = str(node.value)
        if node.style in ("'", '"', "|", ">"):
            return text
        if text.lower() in _WORDS and text in (text.lower(), text.title(), text.upper()):
            return _WORDS[text.lower()]
        if _INT.fullmatch(text):
            return int(text)
        return float(text) if _FLOAT.fullmatch(text) else text

    def _complain(self, node: Node, message: str, hint: str) -> None:
        self.complaints.append(Complaint(self.path, *_place(node), message, hint))
