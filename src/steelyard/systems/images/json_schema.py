"""The JSON schema of image recipes; ``python -m`` this module prints it."""

from __future__ import annotations

import sys
from typing import Any

from steelyard.study.json_schema import file_schema, written
from steelyard.systems.images.recipe import Recipe


def recipe_schema() -> dict[str, Any]:
    """The schema as a document."""
    return file_schema(Recipe, "An image recipe of Steelyard")


if __name__ == "__main__":
    sys.stdout.write(written(recipe_schema()))
