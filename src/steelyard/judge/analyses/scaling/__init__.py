"""Throughput over the levels of a load: where it peaks, saturates, falls back."""
