"""Checks of a whole study: its budget, its questions, what this version runs, server limits."""
