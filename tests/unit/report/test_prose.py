"""English is written in `report/`, and for a plan in `plan/*words.py`; all else has kinds, figures.

Excepted is what a person reads of a mistake: text that only ever reaches an error, what documents a
file's keys, what a shell reads, and a line of progress while somebody waits.
"""

from __future__ import annotations

import ast
import functools
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

import steelyard

SOURCE = Path(steelyard.__file__).parent
ROOMS = (
    "study",
    "plan",
    "trial",
    "records",
    "inference",
    "judge",
    "workloads",
    "systems",
    "hosts",
    "engine",
    "timing",
    "history",
)
WORDS_OF_A_SENTENCE = 5
OF_ERRORS = re.compile(
    r"(Error|Failure|Failed|Refusal|Complaints?|Mistake|_?complain(t|_of_\w+)?"
    r"|^(Broken|Left|expect|refused|_fail|_give_up_on))$"
)
OF_PROGRESS = {"say", "waits"}
"""Functions handed in that print one line on stderr while somebody waits."""
OF_ACTIONS = {"Command"}
"""An inverse that says itself what it does."""
DOCUMENTING = {"description", "examples", "hint", "meaning"}
SCRIPT = re.compile(r"\$[\w*@?{(\"]|\|\||&&|2>")
"""What a shell reads, not a person."""
EXCEPTED = {
    "plan/words.py": "a plan in words",
    "plan/limit_words.py": "a plan in words",
    "plan/machine_words.py": "a plan in words",
    "plan/screen_words.py": "a plan in words",
    "plan/trial_words.py": "a plan in words",
    "study/reference.py": "pages of the reference",
    "records/files/migration.py": "sentences of version 1 that are read",
    "systems/images/json_schema.py": "the title of a schema",
    "systems/conformance/checks.py": "promises of platforms, printed by `steelyard doctor`",
    "systems/conformance/session.py": "the same",
    "systems/qemu/accelerator.py": "why KVM cannot be used, in an error and in `steelyard doctor`",
    "systems/services/certificate.py": "a configuration of openssl",
    "systems/services/content.py": "a message for mailboxes",
    "hosts/environment/differences.py": "why something moves by itself, for readers of the code",
    "hosts/kernel_values.py": "the same",
    "hosts/lab_network.py": "arguments of ip",
    "hosts/undo/": "what an inverse does, in the error of one that fails",
    "engine/messages.py": "how a program ended, in an error",
    "trial/rehearsal/": "what a machine shows that is not up yet, and why a step is not known",
}
NAMES = {
    "connections with the server's own two",  # what a service file says that a limit counts
    "page cache of the guest",
    "page cache of the system",
    "write cache of the virtual disk",
    "cannot unregister device .*No such file or directory",  # of btrfs
    "no container with name or id",  # of podman
}
"""Names of things, and what programs print."""

Trees = dict[str, ast.Module]


def _last(node: ast.expr) -> str:
    return getattr(node, "attr", None) or getattr(node, "id", None) or ""


def _is_of_errors(node: ast.AST) -> bool:
    """A raise; a call that makes or reports an error; a function that returns one."""
    if isinstance(node, ast.Call):
        of = node.func.value if isinstance(node.func, ast.Attribute) else node.func
        name = _last(node.func)
        known = name in OF_PROGRESS | OF_ACTIONS or _last(of) == "complaints"
        return known or bool(OF_ERRORS.search(name))
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
        if len(text.split()) >= WORDS_OF_A_SENTENCE
        and text not in NAMES
        and not SCRIPT.search(text)
    ]


@functools.cache
def _trees() -> Trees:
    return {
        str(path.relative_to(SOURCE)): ast.parse(path.read_text(encoding="utf-8"))
        for room in ROOMS
        for path in sorted((SOURCE / room).rglob("*.py"))
    }


def test_no_sentence_stands_outside_the_rooms_of_words_and_every_exception_is_one() -> None:
    excepted = {file: [each for each in EXCEPTED if file.startswith(each)] for file in _trees()}
    found = sentences(_trees())
    assert [each for each in found if not excepted[each.partition(":")[0]]] == []
    assert {one for each in found for one in excepted[each.partition(":")[0]]} == set(EXCEPTED)


PLANTED = {
    "a local name": 'why = "no operation was answered well"\nrecord(missing=why)',
    "a function": 'def why(n: int) -> str:\n    return f"{n} samples in the window, 2 are needed"',
    "a constant that an error uses as well": (
        'WHY = "the study says no to it"\nif x:\n    raise KeyError(WHY)\nrecord(missing=WHY)'
    ),
}
HARMLESS = {
    "a script": 'run(["sh", "-c", \'while read -r a; do echo "$a" to it; done\'])',
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
