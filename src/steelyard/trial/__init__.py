"""From a planned trial to a record: the only stage with clocks, processes and networks.

``conduct`` is the life of one trial on one screen, ``session`` goes through the plan. Nothing
here computes a statistic; ``session`` asks ``judge/verdict`` whether to go on.
"""
