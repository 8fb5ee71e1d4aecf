"""Tools that a workload file says how to run: their words, and the numbers in what they print."""
