"""The words of the field: a private word in docs, studies, schemas or code fails."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BANNED = {
    r"canar(y|ies)": "reference kernel",
    r"strangers?": "other processes, background load",
    r"bystanders?": "latency probe",
    r"(?<!\")coins?": "random assignment",
    r"puts? out": "rejected",
    r"to and fro": "negative lag-1 autocorrelation",
    r"in vain": "futility",
    r"carriers?": "host",
    r"doubt(s|ed|ful)?": "warning",
    r"dumm(y|ies)": "A/A control",
    r"second test": "Welch test",
    r"typical ratio": "Hodges-Lehmann ratio",
    r"le(ft|aves?) behind": "carry-over",
    r"slow movements?": "low-frequency trend",
    r"lodgings?": "instance pool",
    r"fore(seen|sight)": "preflight",
    r"soundings?|sound(ed)? out|sings?|sung": "reference kernel, noise at rest",
    r"second sockets?": "data connection",
    r"tak(es?|ing|en) back|took back": "undo, restore",
    r"put(s|ting)? right": "restore",
    r"left as found": "restored, clean-up verified",
    r"surroundings": "environment",
    r"hurrying": "forced stop",
    r"nothing comes of|of which nothing comes": "futility",
    r"for want of|in want of": "missing, without",
    r"mend(s|ed|ing)?": "fix",
    r"guard(s|ed)?": "guardrail metric",
    r"rac(es?|ing)(?! condition)": "sequential elimination",
    r"end(s|ed)? well": "succeed, fail",
    r"least client": "minimal client",
    r"heard|hears": "received, measured",
    r"(?<!: )(?<![`=\"])nobody(?![`,}])": "no one, no process",
    r"seats?": "address",
    r"understood": "parsed, supported",
    r"banks? of noise|noise banks?": "noise recording",
    r"(is|are|was|were|be) told|tells? of": "is reported, is listed",
    r"crews?": "workers",
    r"commanded": "command_line, driven by a command line",
    r"(un)?proven": "verified, unverified",
    r"crowds?|crowd(ed|ing)": "load_limits, exceeded limits",
    r"warms_up": "warmup",
    r"holds_places": "holds_placeholders",
}
OLD_NAMES = {
    "docs/reference/platform-file.md": {"commanded", "proven", "holds_places"},
    "docs/reference/records.md": {"canary"},
    "docs/reference/service-file.md": {"crowds", "holds_places"},
    "docs/reference/study-file.md": {"carrier", "guards", "canary", "dummy"},
    "docs/reference/workload-file.md": {"warms_up", "holds_places"},
}
"""Pages that say how an older spelling is read."""
WORDS = "|".join(BANNED)
PATTERN = re.compile(rf"(?<![\w./-])(?:{WORDS})(?![\w/-])", re.IGNORECASE)
IN_IDENTIFIER = re.compile(rf"(?<!\w)(?:{WORDS})(?!\w)", re.IGNORECASE)
IDENTIFIER = re.compile(r"\w*_\w*|\w*[a-z0-9][A-Z]\w*")
OTHERS_NAMES = {"MutexGuard", "TypeGuard"}
KEPT_KINDS = {"output_not_understood", "OUTPUT_NOT_UNDERSTOOD"}
"""Kinds in records, whose spelling belongs to their version."""
SUFFIXES = {".md", ".py", ".yaml", ".json", ".toml", ".rs", ".css", ".j2", ".html"}
NOT_OURS = (
    "docs/examples/",  # reports as they were made
    "docs/methods/validation.md",  # written by the last validation
    "src/steelyard/records/files/migration.py",  # reads what version 1 wrote
    "src/steelyard/study/file/old_keys.py",  # names keys as they were
    "crates/net/src/checksum.rs",  # a published test vector
)


def _texts() -> Iterator[Path]:
    yield from (path for path in ROOT.glob("*.md"))
    for folder in ("crates", "docs", "fuzz/laws", "schemas", "src", "studies"):
        for path in sorted((ROOT / folder).rglob("*")):
            here = path.relative_to(ROOT).as_posix()
            if path.suffix in SUFFIXES and not here.startswith(NOT_OURS):
                yield path


def _in_identifiers(line: str) -> Iterator[str]:
    """Identifiers with such a word among those that underscores and capitals set apart."""
    for found in IDENTIFIER.finditer(line):
        words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", found.group()).replace("_", " ")
        if IN_IDENTIFIER.search(words) and found.group() not in OTHERS_NAMES | KEPT_KINDS:
            yield found.group()


def _found(line: str) -> Iterator[str]:
    yield from (hit.group() for hit in PATTERN.finditer(line))
    yield from _in_identifiers(line)


@pytest.mark.parametrize(
    "line", ["a canary", "def sing_twice(", "class OpenCarrier:", "x = MAX_COINS", "self._seat"]
)
def test_a_word_that_only_we_know_is_found_in_prose_and_in_identifiers(line: str) -> None:
    assert list(_found(line))


@pytest.mark.parametrize("line", ["singular", "TypeGuard[str]", "guardrail_lines", "canaryislands"])
def test_a_word_within_another_is_none(line: str) -> None:
    assert not list(_found(line))


def test_no_test_has_a_name_with_a_word_that_only_we_know() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in sorted((ROOT / "tests").rglob("test_*.py"))
        for name in re.findall(r"^ *def (test_\w+)", path.read_text("utf-8"), re.MULTILINE)
        if list(_in_identifiers(name)) and path != Path(__file__)
    ]
    assert not found


@pytest.mark.parametrize("folder", sorted({p.relative_to(ROOT).parts[0] for p in _texts()}))
def test_no_text_has_a_word_that_only_we_know(folder: str) -> None:
    found = [
        f"{path.relative_to(ROOT)}:{number}: {hit}"
        for path in _texts()
        if path.relative_to(ROOT).parts[0] == folder
        for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1)
        for hit in _found(line)
        if hit not in OLD_NAMES.get(path.relative_to(ROOT).as_posix(), ())
    ]
    assert not found
