"""English is written in `report/`, and for a plan in `plan/*words.py`; all else has kinds, figures.

Excepted is what a person reads of a mistake: text that only ever reaches an error, and what
documents a file's keys.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

import steelyard

SOURCE = Path(steelyard.__file__).parent
ROOMS = ("study", "plan", "trial", "records", "inference", "judge")
WORDS_OF_A_SENTENCE = 5
OF_ERRORS = re.compile(
    r"(Error|Failure|Failed|Refusal|Complaints?|Mistake|_?complain(t|_of_\w+)?)$"
)
DOCUMENTING = {"description", "examples", "meaning"}
EXCEPTED = {
    "plan/words.py": "a plan in words",
    "plan/limit_words.py": "a plan in words",
    "plan/screen_words.py": "a plan in words",
    "plan/trial_words.py": "a plan in words",
    "study/reference.py": "pages of the reference",
    "records/files/migration.py": "sentences of version 1 that are read",
    "trial/drive/background.py": "shell scripts",
}
NAMES = {"connections with the server's own two"}
"""What a service file says that a limit counts."""

Trees = dict[str, ast.Module]


def _last(node: ast.expr) -> str:
    return getattr(node, "attr", None) or getattr(node, "id", None) or ""


def _is_of_errors(node: ast.AST) -> bool:
    """A raise; a call that makes or reports an error; a function that returns one."""
    if isinstance(node, ast.Call):
        of = node.func.value if isinstance(node.func, ast.Attribute) else node.func
        return bool(OF_ERRORS.search(_last(node.func))) or _last(of) == "complaints"
    if isinstance(node, ast.FunctionDef) and node.returns is not None:
        return any(OF_ERRORS.search(_last(part)) for part in ast.walk(node.returns)
                   if isinstance(part, ast.expr))  # fmt: skip
    return isinstance(node, ast.Raise)


def _documents(node: ast.AST) -> bool:
    return isinstance(node, ast.keyword) and node.arg in DOCUMENTING


def _assigned(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Assign | ast.AnnAssign):
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            yield from (part.id for part in ast.walk(target) if isinstance(part, ast.Name))


def _uses(tree: ast.AST) -> dict[str, set[ast.AST]]:
    """Where each name is read, as a name or as an attribute with a dot before it."""
    found: dict[str, set[ast.AST]] = defaultdict(set)
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            found[node.id].add(node)
        elif isinstance(node, ast.Attribute):
            found[f".{node.attr}"].add(node)
    return found


def _definitions(trees: Trees) -> Iterator[tuple[ast.AST, set[ast.AST]]]:
    """What gives a name a value, with all uses of the name: a local one's within its function.

    A name without an underscore before it may be used in any module.
    """
    everywhere: dict[str, set[ast.AST]] = defaultdict(set)
    by_file = {file: _uses(tree) for file, tree in trees.items()}
    for uses in by_file.values():
        for name, nodes in uses.items():
            everywhere[name] |= nodes
    for file, tree in trees.items():
        local: set[ast.AST] = set()
        for function in (n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)):
            uses = _uses(function)
            for node in ast.walk(function):
                local.add(node)
                yield from ((node, uses[name]) for name in _assigned(node))
        for node in ast.walk(tree):
            named = [node.name] if isinstance(node, ast.FunctionDef | ast.ClassDef) else []
            for name in named or ([] if node in local else _assigned(node)):
                known = by_file[file] if name.startswith("_") else everywhere
                yield node, known[name] | known[f".{name}"]


def _excepted_nodes(trees: Trees) -> set[ast.AST]:
    """What only ever reaches an error, also by way of a name all of whose uses do."""
    nodes = [node for tree in trees.values() for node in ast.walk(tree)]
    tops = [node for node in nodes if _is_of_errors(node) or _documents(node)]
    inside = {part for node in tops for part in ast.walk(node)}
    definitions = list(_definitions(trees))
    while True:
        more = [node for node, uses in definitions if uses and uses <= inside]
        grown = inside.union(*(ast.walk(node) for node in more))
        if grown == inside:
            return inside
        inside = grown


def _texts(tree: ast.Module, excepted: set[ast.AST]) -> Iterator[tuple[int, str]]:
    """Literals with their lines; of an f-string its figures are one word each."""
    passed = set(excepted)
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            passed.add(node.value)
        elif isinstance(node, ast.JoinedStr):
            passed.update(part for part in node.values if isinstance(part, ast.Constant))
    for node in ast.walk(tree):
        if node in passed:
            continue
        if isinstance(node, ast.JoinedStr):
            parts = (str(p.value) if isinstance(p, ast.Constant) else "x" for p in node.values)
            yield node.lineno, "".join(parts)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value


def sentences(trees: Trees) -> list[str]:
    """Every text of a sentence's length, with its place."""
    excepted = _excepted_nodes(trees)
    return [
        f"{file}:{line}: {text}"
        for file, tree in trees.items()
        for line, text in _texts(tree, excepted)
        if len(text.split()) >= WORDS_OF_A_SENTENCE and text not in NAMES
    ]


def _trees() -> Trees:
    return {
        str(path.relative_to(SOURCE)): ast.parse(path.read_text(encoding="utf-8"))
        for room in ROOMS
        for path in sorted((SOURCE / room).rglob("*.py"))
    }


def test_no_sentence_stands_outside_the_rooms_of_words_and_every_exception_is_one() -> None:
    found = sentences(_trees())
    assert [each for each in found if each.partition(":")[0] not in EXCEPTED] == []
    assert {each.partition(":")[0] for each in found} == set(EXCEPTED)


PLANTED = {
    "a local name": 'why = "no operation was answered well"\nrecord(missing=why)',
    "a function": 'def why(n: int) -> str:\n    return f"{n} samples in the window, 2 are needed"',
    "a constant that an error uses as well": (
        'WHY = "the study says no to it"\nif x:\n    raise KeyError(WHY)\nrecord(missing=WHY)'
    ),
}
HARMLESS = {
    "an error": 'hint = "write a whole number, such as 5"\nraise StudyError("it is wrong", hint)',
    "a hint of a complaint": (
        'def _hint() -> str:\n    return "write a whole number, such as 5"\n\n\n'
        "complaints.add((), message, _hint())"
    ),
    "a description": 'users: int = Field(description="how many users there are at once")',
    "a docstring": 'def rate() -> float:\n    """How many operations succeeded in a second."""',
}


@pytest.mark.parametrize("planted", PLANTED.values(), ids=PLANTED)
def test_a_planted_sentence_is_found(planted: str) -> None:
    assert len(sentences({"planted.py": ast.parse(planted)})) == 1


@pytest.mark.parametrize("harmless", HARMLESS.values(), ids=HARMLESS)
def test_text_of_an_error_or_a_description_is_no_sentence(harmless: str) -> None:
    assert sentences({"harmless.py": ast.parse(harmless)}) == []
