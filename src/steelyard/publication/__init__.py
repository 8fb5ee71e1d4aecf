"""A run for others: published with all that its findings rest on, and verified by who reads it."""
