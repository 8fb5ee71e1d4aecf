"""``python -m audit``: ``check`` and ``advisories`` for ``make audit``, ``write``, ``sbom``."""

from __future__ import annotations

import sys

from audit.inventory import complaints, read_inventory
from audit.listing import PAGE, page
from audit.policy import ROOT, read_policy


def main(word: str) -> int:
    """What the word asks for; 1 where something is wrong with a dependency."""
    return {"check": _check, "advisories": _advisories, "write": _write, "sbom": _sbom}[word]()


def _check() -> int:
    policy = read_policy()
    found = read_inventory(policy)
    wrong = list(complaints(found, policy))
    for line in wrong:
        _say(line)
    if not wrong:
        _say(f"{len(found.packages)} dependencies: licences, sources and versions are allowed")
    return 1 if wrong else 0


def _advisories() -> int:
    from audit.advisories import answers  # noqa: PLC0415 - its packages are not always installed

    failed = False
    for answer in answers(read_policy()):
        failed |= bool(answer.found)
        _say(f"{answer.asked}: {'failed' if answer.found else 'nothing found'}")
        for line in answer.found:
            _say(f"  {line}")
        if answer.unasked:
            _say(f"  not audited: {answer.unasked}")
    return 1 if failed else 0


def _write() -> int:
    found = read_inventory(read_policy(), fetch=True)
    PAGE.write_text(page(found.packages))
    _say(f"{PAGE.relative_to(ROOT)}")
    return 0


def _sbom() -> int:
    from audit.bom import bill, written  # noqa: PLC0415 - the same

    found = read_inventory(read_policy())
    path = ROOT / "build" / "steelyard.cdx.json"
    written(bill(found.packages, found.package_needs, found.engine_needs), path)
    _say(f"{path.relative_to(ROOT)}")
    return 0


def _say(line: str) -> None:
    sys.stderr.write(f"steelyard: {line}\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
