"""Models of the settings that code reads, of workloads, services and platforms.

Which settings there are is declared by the files of the catalogue, and most of them are only put
where a file says. Those that code reads by name are fields of a ``SettingsModel``, and every model
is held against the files it reads when they are loaded: a setting that is renamed on one side is
an error there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import NoneType, UnionType
from typing import Self, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict

from steelyard.study.declared.setting import Setting, SettingKind, Settings
from steelyard.study.declared.value import default_of
from steelyard.study.file.complaints import Mistake


class SettingsModel(BaseModel):
    """Settings that code reads, among others that it does not."""

    model_config = ConfigDict(frozen=True, extra="ignore", defer_build=True)

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """Those of this model among all settings."""
        return cls.model_validate(settings)


_TYPES: dict[SettingKind, type] = {
    "size": int,
    "duration": float,
    "rate": float,
    "share": float,
    "count": int,
    "port": int,
    "number": float,
    "word": str,
    "text": str,
    "texts": tuple,
    "sizes": tuple,
    "words": tuple,
    "addresses": dict,
    "network disk": str,
    "flag": bool,
    "per user": int,
}


def model_mistakes(
    model: type[SettingsModel], declared: Mapping[str, Setting], *, whole: bool
) -> Iterator[Mistake]:
    """Where a model does not agree with the settings that a file declares.

    ``whole``: the file declares every field; otherwise fields that it declares must agree.
    """
    for name, field in model.model_fields.items():
        setting, where = declared.get(name), ("settings", name)
        types = tuple(_types(field.annotation))
        if setting is None:
            if whole:
                hint = f"declare it, or take the field out of {model.__name__}"
                yield Mistake(where, f"there is no setting `{name}`", hint)
        elif setting.kind == "group":
            for group in types:
                if issubclass(group, SettingsModel):
                    yield from model_mistakes(group, setting.settings, whole=whole)
        elif _TYPES[setting.kind] not in types:
            kinds = [kind for kind, each in _TYPES.items() if each in types]
            hint = f"give it the kind {' or '.join(kinds)}, or another name"
            yield Mistake(where, f"`{name}` cannot be a {setting.kind}", hint)
        elif setting.default is None and not setting.required and NoneType not in types:
            yield Mistake(where, f"`{name}` needs a value", "give it a `default`")
        elif not field.is_required() and field.default != default_of(setting) and whole:
            hint = f"write the same in the file and in {model.__name__}"
            yield Mistake(where, f"the default of `{name}` is not {field.default}", hint)


def _types(annotation: object) -> Iterator[type]:
    """The plain types that an annotation allows: of ``tuple[str, ...] | None`` tuple and None."""
    parts = get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)
    for part in parts:
        found = get_origin(part) or part
        if isinstance(found, type):
            yield found
