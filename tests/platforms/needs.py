"""What a test needs of this machine."""

from __future__ import annotations

import os
import shutil

import pytest


def need(*tools: str, root: bool = False) -> None:
    """Skips the test, and says for want of what."""
    if root and os.geteuid() != 0:
        pytest.skip("needs root")
    missing = [tool for tool in tools if shutil.which(tool) is None]
    if missing:
        pytest.skip(f"needs {', '.join(missing)}")
