"""How long the judge takes, against the same answers worked out without its shortcuts."""
