"""A run while it is measured: its ledger is followed, its trials are read as they land."""
