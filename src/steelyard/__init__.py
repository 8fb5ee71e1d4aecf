"""Steelyard: a laboratory in one tool for comparing systems.

Follow a study file to its report by opening the folders in this order: ``study``, ``plan``,
``trial`` (with ``systems``, ``workloads``, ``hosts`` and ``engine`` below it), ``records``,
``judge``, ``report``. ``records`` is the waist: what stands right of it never imports what
stands left of it.
"""

from functools import cache


@cache
def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415 - slow to load

    try:
        return version("steelyard")
    except PackageNotFoundError:  # a source tree that was never installed
        return "0.0.0+uninstalled"


def __getattr__(name: str) -> str:
    if name == "__version__":
        return _version()
    raise AttributeError(name)
