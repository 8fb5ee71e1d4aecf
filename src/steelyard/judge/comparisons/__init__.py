"""Comparisons: which there are, the verdict on each, and what forbids or qualifies it."""
