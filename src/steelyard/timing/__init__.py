"""Subjects that need no preparation, timed in random order until the verdict holds."""
