"""The JSON schema of study files, for editors; ``python -m steelyard.study.json_schema`` prints it.

It is looser than reading: what depends on other keys, or on the text of a quantity, only reading
checks. What it refuses, reading refuses too.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from typing import Any

from steelyard.study import catalogue
from steelyard.study.catalogue import Shelf
from steelyard.study.declared.setting import Setting
from steelyard.study.file.grammar import StudyFile
from steelyard.study.lookup import responses_of

_TYPES: dict[str, list[str]] = {
    "count": ["integer", "string"],
    "port": ["integer", "string"],
    "number": ["number", "string"],
    "flag": ["boolean"],
    "texts": ["array"],
    "sizes": ["array"],
    "group": ["object"],
    "addresses": ["object"],
}
_WHOLE = ("texts", "sizes", "group", "addresses")
_SCALAR = ["string", "integer", "number", "boolean"]


def study_schema() -> dict[str, Any]:
    """The schema as a document, with the settings of every catalogue entry."""
    schema: dict[str, Any] = _tidy(StudyFile.model_json_schema(by_alias=True))
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = "A Steelyard study"
    parts = schema["$defs"]
    _open(parts["ServicePart"], "use", "services", catalogue.service)
    _open(parts["SystemPart"], "platform", "platforms", catalogue.platform)
    _open(parts["WorkloadPart"], "use", "workloads", catalogue.workload)
    changes = parts["VariantPart"]["properties"]
    for name, described in changes.items():  # null takes a part out
        shown = described.pop("description", "")
        kept = {"description": shown} if shown else {}
        changes[name] = {"anyOf": [described, {"type": "null"}]} | kept
    service = parts["WorkloadPart"]["properties"]["service"]
    shown = service.pop("description", "")
    parts["WorkloadPart"]["properties"]["service"] = {
        "anyOf": [service, {"type": "string"}],
        "description": shown,
    }
    entries = [catalogue.workload(name) for name in catalogue.names("workloads")]
    names = list(responses_of(entries))
    parts["WorkloadPart"]["properties"]["responses"] = _by_name(
        parts["WorkloadPart"]["properties"]["responses"], names
    )
    schema["properties"]["responses"] = _by_name(schema["properties"]["responses"], names)
    schema["properties"]["gates"] = _by_name(schema["properties"]["gates"], names)
    return schema


def _open(part: dict[str, Any], key: str, shelf: Shelf, load: Callable[[str], Any]) -> None:
    """Adds to a part the settings of whatever its ``key`` names."""
    names = list(catalogue.names(shelf))
    plain: dict[str, Any] = {"type": "string", "enum": names}
    plain = {"anyOf": [plain, {"type": "string"}]}  # it may also mean a file of the user's own
    part["properties"][key] = plain | {
        "description": part["properties"][key].get("description", "")
    }
    declared = list(part["properties"])
    part["allOf"] = [
        {
            "if": {"properties": {key: {"const": name}}, "required": [key]},
            "then": {
                "description": load(name).summary,
                "properties": _settings(load(name).settings),
                "propertyNames": {"enum": [*declared, *load(name).settings]},
            },
        }
        for name in names
    ]
    part.pop("additionalProperties", None)


def _settings(settings: Mapping[str, Setting]) -> dict[str, Any]:
    return {name: _setting(setting) for name, setting in settings.items()}


def _setting(setting: Setting) -> dict[str, Any]:
    described: dict[str, Any] = {"description": setting.meaning}
    if setting.default is not None:
        described["default"] = setting.default
    if setting.kind in _WHOLE:
        return described | {"type": _TYPES[setting.kind][0]}
    one: dict[str, Any] = {"type": _TYPES.get(setting.kind, _SCALAR)}
    if setting.choices:
        one = {"enum": list(setting.choices)}
    return described | {"anyOf": [one, {"type": "array", "items": one}, {"type": "string"}]}


def _by_name(described: dict[str, Any], names: list[str]) -> dict[str, Any]:
    """A mapping whose keys are responses: those that are known, or of a tool of the user's own."""
    return described | {"propertyNames": {"anyOf": [{"enum": names}, {"type": "string"}]}}


def _tidy(node: Any) -> Any:
    """Without titles that repeat the key, and without the null of a key that was not written."""
    if isinstance(node, list):
        return [_tidy(item) for item in node]
    if not isinstance(node, dict):
        return node
    kept = {
        key: _tidy(value)
        for key, value in node.items()
        if not (key == "title" and isinstance(value, str)) and (key, value) != ("default", None)
    }
    choices = [choice for choice in kept.get("anyOf", []) if choice != {"type": "null"}]
    if len(choices) == 1:
        del kept["anyOf"]
        return choices[0] | kept
    return kept | {"anyOf": choices} if choices else kept


def schema_text() -> str:
    """The schema as it is kept in ``schemas/study.schema.json``."""
    return json.dumps(study_schema(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.stdout.write(schema_text())
