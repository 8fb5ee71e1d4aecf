"""Faults injected for real into the trials of one system, and systems limited by one resource."""
