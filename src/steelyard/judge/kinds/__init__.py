"""Kinds of notes, caveats and checks, each with its figures; ``report/notes/`` writes them."""
