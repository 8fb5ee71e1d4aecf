"""Truth tests: does a load generator report what happened?

Each test makes something happen whose figures are known beforehand (a server that stands still
for a second, a delay that is exact), and compares what a tool reports with it. The same tests,
servers, cores and criteria (criteria.py) for every tool. `python -m bench.truth --help` says how
to run them.
"""
