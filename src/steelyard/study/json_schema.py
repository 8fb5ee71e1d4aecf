"""JSON schemas of the files that people write, for editors.

``python -m steelyard.study.json_schema FOLDER`` writes them. They are looser than reading: what
depends on names elsewhere only reading checks. What they refuse, reading refuses too.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast

from pydantic import BaseModel

from steelyard import units
from steelyard.study import catalogue
from steelyard.study.catalogue import Shelf
from steelyard.study.declared.network_disks import PATTERN
from steelyard.study.declared.responses import responses
from steelyard.study.declared.setting import OFF, Setting
from steelyard.study.file.grammar import StudyFile
from steelyard.study.file.kinds import quantity_schema
from steelyard.study.lookup import responses_of
from steelyard.study.meter.entry import Meter
from steelyard.study.service.entry import Service
from steelyard.study.workload.entry import Workload

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
_QUANTITIES = ("size", "duration", "rate", "share")
_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_COMPARES = ("compare", "factors", "screen", "scenarios", "judge", "ask")
"""Keys with which one system alone may be a study."""
_SUBJECTS = ("system", "every_level_of")
_OF_WHAT = ("id", "except", "response", "at", *_SUBJECTS)
"""Keys of a claim that say what it speaks of, and not what it says."""
_NO_ZERO = {"anyOf": [{"const": 0}, {"type": "string", "pattern": r"^\s*[+-]?0+(\.0+)?\s*%?\s*$"}]}


def study_schema() -> dict[str, Any]:
    """The schema as a document, with the settings of every catalogue entry."""
    schema = file_schema(StudyFile, "A Steelyard study")
    parts = schema["$defs"]
    _open(parts["ServicePart"], "use", "services", catalogue.service)
    _open(parts["MeterPart"], "use", "meters", catalogue.meter)
    _open(parts["SystemPart"], "platform", "platforms", catalogue.platform)
    _open(parts["WorkloadPart"], "use", "workloads", catalogue.workload)
    for place in ("SystemPart", "DefaultsPart"):
        _close_disks(parts[place]["properties"]["disks"])
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
    _exclude(schema)
    _require(schema)
    return schema


def file_schema(model: type[BaseModel], title: str) -> dict[str, Any]:
    """The schema of a file whose keys are the fields of a model."""
    described: dict[str, Any] = _tidy(model.model_json_schema(by_alias=True))
    return {"$schema": _DIALECT, **described, "title": title}


def _exclude(schema: dict[str, Any]) -> None:
    """Keys that contradict each other, and quantities that mean nothing."""
    parts = schema["$defs"]
    schema["not"] = {"required": ["workload", "workloads"]}
    alone = {"not": {"anyOf": [{"required": [key]} for key in _COMPARES]}}
    schema["if"], schema["then"] = alone, {"properties": {"systems": {"minProperties": 2}}}
    parts["LoadPart"]["not"] = {"required": ["users", "rate"]}
    users = parts["LoadPart"]["properties"]["users"]
    for choice in users["anyOf"]:
        choice.get("items", choice)["exclusiveMinimum"] = 0
    parts["TrialsPart"]["properties"]["margin"]["not"] = _NO_ZERO
    changes = parts["VariantPart"]["properties"]
    for key, part in schema["properties"].items():
        closed = parts.get(part.get("$ref", "").rpartition("/")[2], {})
        if key in changes and closed.get("additionalProperties") is False:
            changes[key]["anyOf"][0]["propertyNames"] = {"enum": [*closed["properties"]]}


def _require(schema: dict[str, Any]) -> None:
    """What a key needs besides itself."""
    parts = schema["$defs"]
    parts["ReportPart"]["dependentRequired"] = {"notes": ["sections_by"]}
    claim = parts["ClaimPart"]
    statements = [key for key in claim["properties"] if key not in _OF_WHAT]
    claim["allOf"] = [
        {"anyOf": [{"required": [key]} for key in keys]} for keys in (_SUBJECTS, statements)
    ]
    primary = {"properties": {"primary": {"const": True}}, "required": ["primary"]}
    for described in (schema["properties"], parts["WorkloadPart"]["properties"]):
        described["responses"]["not"] = {
            "anyOf": [
                {"properties": {name: primary}, "required": [name]}
                for name, each in responses().items()
                if each.may_be_zero or each.direction == "none"
            ]
        }


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


def _close_disks(disks: dict[str, Any]) -> None:
    """Says which settings a disk has."""
    settings = _settings(catalogue.disk_settings())
    for disk in disks["patternProperties"].values():
        disk |= {"properties": settings, "additionalProperties": False}


def _settings(settings: Mapping[str, Setting]) -> dict[str, Any]:
    return {name: _setting(setting) for name, setting in settings.items()}


def _setting(setting: Setting) -> dict[str, Any]:
    described: dict[str, Any] = {"description": setting.meaning}
    if setting.default is not None:
        described["default"] = setting.default
    if setting.kind in _WHOLE:
        return described | {"type": _TYPES[setting.kind][0]}
    one = _one(setting)
    return described | {"anyOf": [one, {"type": "array", "items": one}, *_further(setting)]}


def _one(setting: Setting) -> dict[str, Any]:
    """One value of a setting; of a quantity also words such as `as the service`, and a range."""
    if setting.kind in _QUANTITIES:
        kind = cast("units.Kind", setting.kind)
        pattern = rf"^(?!\s*[+-]?[0-9])|\.\.|{units.pattern(kind)}"
        number = quantity_schema(kind)["anyOf"]
        return {"anyOf": [*cast("list[object]", number), {"type": "string", "pattern": pattern}]}
    if setting.kind == "network disk":
        return {"type": "string", "pattern": PATTERN}
    if setting.choices:
        words = [*setting.choices, *([] if setting.off is None else [OFF, False])]
        truths = [truth for truth in (True, False) if str(truth).lower() in setting.choices]
        return {"enum": [*words, *truths]}
    limits = {"minimum": setting.least, "maximum": setting.most}
    if setting.kind == "port":
        limits = {"minimum": 1, "maximum": 65535}
    limited = {key: limit for key, limit in limits.items() if limit is not None}
    return {"type": _TYPES.get(setting.kind, _SCALAR)} | limited


def _further(setting: Setting) -> list[dict[str, Any]]:
    """Texts that stand for a list of values, or for one that lies elsewhere."""
    closed = setting.choices or setting.kind in ("flag", "network disk")
    return [] if closed else [{"type": "string"}]


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


SCHEMAS: dict[str, Callable[[], dict[str, Any]]] = {
    "study": study_schema,
    "workload-file": lambda: file_schema(Workload, "A workload of Steelyard"),
    "service-file": lambda: file_schema(Service, "A service of Steelyard"),
    "meter-file": lambda: file_schema(Meter, "A meter of Steelyard"),
    "platform-file": lambda: file_schema(catalogue.Platform, "A platform of Steelyard"),
}
"""By the name of their file in ``schemas``."""


def written(schema: Mapping[str, Any]) -> str:
    """A schema as it is kept in ``schemas``."""
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    for file, described in SCHEMAS.items():
        Path(sys.argv[1], f"{file}.schema.json").write_text(written(described()), "utf-8")
