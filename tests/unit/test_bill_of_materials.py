"""The bill of materials holds what is shipped, and every program that reads CycloneDX reads it."""

from __future__ import annotations

import json
from typing import Any

import pytest

pytest.importorskip("cyclonedx", reason="`make sbom` installs what writes it")

from audit.bom import bill
from audit.package import Package
from cyclonedx.output.json import JsonV1Dot6
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

PACKAGES = [
    Package("one", "1.0", "crate", "MIT OR ISC", shipped=True, sha256="0" * 64, needs=("two@2",)),
    Package("two", "2", "crate", "MIT", shipped=True, sha256="1" * 64),
    Package("two", "2", "python", "MIT", shipped=True),
    Package("tester", "3", "python", "MPL-2.0", shipped=False),
]


def written() -> str:
    return JsonV1Dot6(bill(PACKAGES, ["two", "tester"], ["one@1.0"])).output_as_string()


def test_it_is_valid() -> None:
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(written()) is None


def test_it_names_all_that_is_shipped_once_and_nothing_else() -> None:
    bom: dict[str, Any] = json.loads(written())
    urls = sorted(each["purl"] for each in bom["components"] if "purl" in each)
    assert urls == ["pkg:cargo/one@1.0", "pkg:cargo/two@2", "pkg:pypi/two@2"]


def test_it_says_what_needs_what() -> None:
    bom: dict[str, Any] = json.loads(written())
    needs = {each["ref"]: each.get("dependsOn", []) for each in bom["dependencies"]}
    assert needs["steelyard@0.1.0"] == ["pkg:pypi/two@2", "steelyard-engine@0.1.0"]
    assert needs["steelyard-engine@0.1.0"] == ["pkg:cargo/one@1.0"]
    assert needs["pkg:cargo/one@1.0"] == ["pkg:cargo/two@2"]
