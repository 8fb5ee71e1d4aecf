"""What the fields of a model mean: the text below each, read from the source when it is asked for.

pydantic can read these texts itself, but does so whenever a class is made. Only complaints and
schemas need them, and every command would wait.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from functools import cache
from itertools import pairwise
from typing import Any

from pydantic import BaseModel, ConfigDict

Fields = type[BaseModel]


@cache
def meanings(model: Fields) -> dict[str, str]:
    """What each field means, by its name in a file; inherited fields are included."""
    found: dict[str, str] = {}
    for each in reversed(model.__mro__):
        if issubclass(each, BaseModel) and each is not BaseModel:
            found |= _below_fields(each)
    return {field.alias or name: found.get(name, "") for name, field in model.model_fields.items()}


def _below_fields(model: Fields) -> dict[str, str]:
    (written,) = ast.parse(textwrap.dedent(inspect.getsource(model))).body
    found = {}
    for field, below in pairwise(written.body if isinstance(written, ast.ClassDef) else ()):
        match field, below:
            case (
                ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str(text))),
            ):
                found[name] = inspect.cleandoc(text)
    return found


def _describe(schema: dict[str, Any], model: Fields) -> None:
    for name, meaning in meanings(model).items():
        if meaning:
            schema["properties"][name]["description"] = meaning


DESCRIBED = ConfigDict(json_schema_extra=_describe)
"""For models whose JSON schema holds these texts."""
