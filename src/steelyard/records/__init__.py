"""What lies on disk: the waist between measuring and reading.

``ledger`` is the diary of a run, ``archive`` its folder, ``schema`` one attempt. Nothing here
knows about machines, statistics or charts.
"""
