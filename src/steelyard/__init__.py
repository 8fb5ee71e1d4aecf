"""Steelyard: a laboratory in one tool for comparing systems.

Follow a study file to its report by opening the folders in this order: ``study``, ``plan``,
``trial`` (with ``systems``, ``workloads``, ``hosts`` and ``engine`` below it), ``records``,
``judge``, ``report``. ``records`` is the waist: what stands right of it never imports what
stands left of it.
"""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("steelyard")
except PackageNotFoundError:  # a source tree that was never installed
    __version__ = "0.0.0+uninstalled"
