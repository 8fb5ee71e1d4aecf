"""Platforms driven by a command line: their files, read and checked."""
