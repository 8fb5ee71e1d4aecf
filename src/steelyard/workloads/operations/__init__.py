"""What one operation of each workload is, as the engine's job says it: one protocol, one file."""
