"""Data files: workloads, platforms, services and responses that a study file can name.

Read by ``steelyard.study.catalogue``. An entry or setting with ``runs: false`` may be written
in a study file but cannot be run by this version.
"""
