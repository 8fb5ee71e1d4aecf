"""Where a system or a generator runs: machines, the pipes to them, and restoring them again."""
