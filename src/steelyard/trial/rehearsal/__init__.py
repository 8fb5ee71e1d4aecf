"""A study gone through without doing it: the code of a run, and machines that note what it asks."""
