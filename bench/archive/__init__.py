"""How packed runs behave as they grow: bytes at rest, opening, records, findings, queries."""
