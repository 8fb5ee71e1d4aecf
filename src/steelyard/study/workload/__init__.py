"""Workloads as data: what a workload file declares, its places, and what can be wrong with it."""
