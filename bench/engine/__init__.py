"""The engine against its peers: pairs of runs in random order, told as ratios."""
