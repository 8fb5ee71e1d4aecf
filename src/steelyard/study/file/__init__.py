"""The study file as written: its text, its places, its grammar, and what is wrong with it."""
