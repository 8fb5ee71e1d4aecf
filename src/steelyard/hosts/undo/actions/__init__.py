"""How changes to machines are undone: one file for each family, and the table of all.

An inverse is a small frozen dataclass that is stored as JSON before its change is made. Applying it
twice does what applying it once does; what is gone already is fine; and it never touches what is
not ours, which it tells by a mark that cannot be there by chance: a path, a backing file, a uuid,
a process with its start time.
"""
