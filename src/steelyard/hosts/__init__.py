"""Where a system or a generator runs: machines, the pipes to them, and putting them right again."""
