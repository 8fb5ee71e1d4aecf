"""What lies on disk: the waist between measuring and reading.

``schema`` is one attempt, with its notes, ``missing`` values and ``warnings``; ``events`` are the
lines of a ``ledger``, and ``sessions`` what they add up to; ``archive`` is the folder of a run,
with an ``attempt_folder`` for each attempt; ``files`` writes and reads both. Beside runs:
``timing`` of commands, and a ``trials_file`` of the user's own. Nothing here knows about
machines, statistics or charts.
"""
