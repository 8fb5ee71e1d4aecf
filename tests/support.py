"""Records which rows of the table of support were run: ``python -m tests.support JUNIT.xml...``.

pytest writes the files (``--junitxml``). Tests that were skipped show nothing, so a row keeps
what was recorded of it before; ``docs/reference/support.md`` is written anew from the whole.
"""

from __future__ import annotations

import json
import platform
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import steelyard
from steelyard.study import support
from steelyard.study.support import Evidence, Outcome

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "src" / "steelyard" / "catalogue" / "support-results.json"
PAGE = ROOT / "docs" / "reference" / "support.md"
HEAD = """\
# Support

What published comparisons of systems used or named, and what of it Steelyard can do. `steelyard
support` prints the same, `--json` for programs. The state of a row is computed from its tests
where they last ran (`make support`): *run for real* ran the thing itself, or of an import read
a file that it wrote, *against a stand-in* ran a mock of its tool or read output that the tool did
not write, *not run* has tests that no recorded run has included, *failed* has one that failed,
*open* has no test and says why. A row is never run for real because a stand-in passed.
"""


def page() -> str:
    """The reference page."""
    found = list(support.supported())
    lines = [HEAD]
    for group in support.rows():
        lines += [
            f"## {group.capitalize()}",
            "",
            "| | here | state | tests | where |",
            "|---|---|---|---|---|",
        ]
        lines += [_row(each) for each in found if each.group == group]
        lines.append("")
    return "\n".join(lines)


def _row(each: support.Supported) -> str:
    here = ", ".join(f"{kind} `{name}`" for kind, name in each.row.here.items())
    done = each.outcome
    if done is None:
        return f"| {each.name} | {here} | {each.state} | | {each.row.open} |"
    passed = f"{done.passed} passed" + (f", {done.failed} failed" if done.failed else "")
    where = f"{done.on}, {done.version}, {done.machine}"
    return f"| {each.name} | {here} | {each.state} | {passed} | {where} |"


def ended(files: Sequence[Path]) -> Iterator[tuple[str, str, bool]]:
    """Path below ``tests/``, name, and whether it passed, of every test that was not skipped."""
    for file in files:
        for case in ET.parse(file).iter("testcase"):  # noqa: S314 (pytest wrote it)
            children = {child.tag for child in case}
            if "skipped" not in children:
                module = case.get("classname", "").removeprefix("tests.").replace(".", "/")
                passed = not children & {"failure", "error"}
                yield f"{module}.py", case.get("name", ""), passed


def record(files: Sequence[Path]) -> support.Results:
    """Earlier results, with those rows anew of which any test ran."""
    tests = list(ended(files))
    found = support.results() if RESULTS.exists() else {}
    for named in support.rows().values():
        for name, row in named.items():
            patterns: dict[Evidence, tuple[str, ...]] = {"real": row.real, "stand_in": row.stand_in}
            for kind, wanted in patterns.items():
                results = [
                    passed
                    for path, test, passed in tests
                    if any(support.matches(pattern, path, test) for pattern in wanted)
                ]
                if results:
                    outcome = Outcome(
                        passed=sum(results),
                        failed=len(results) - sum(results),
                        on=datetime.now(UTC).date().isoformat(),
                        version=steelyard.__version__,
                        machine=_machine(),
                    )
                    found.setdefault(name, {})[kind] = outcome
    return found


def _machine() -> str:
    release = platform.freedesktop_os_release()
    asked = ["systemd-detect-virt"]
    try:
        within = subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()
    except FileNotFoundError:
        within = ""
    place = "" if within in ("", "none") else ", a virtual machine"
    name = f"{release.get('NAME', 'Linux').split()[0]} {release.get('VERSION_ID', '')}".strip()
    kernel = ".".join(platform.release().split("-")[0].split(".")[:2])
    return f"{name}, Linux {kernel}, {platform.machine()}{place}"


def main(files: Sequence[str]) -> None:
    """Write results and page."""
    found = record([Path(file) for file in files])
    written = {
        name: {kind: outcome.model_dump() for kind, outcome in kinds.items()}
        for name, kinds in sorted(found.items())
    }
    RESULTS.write_text(json.dumps(written, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
