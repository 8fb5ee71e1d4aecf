"""Sentences written in the study, held against the data."""
