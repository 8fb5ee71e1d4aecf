"""Several systems in one order, and which neighbours in it cannot be distinguished."""
