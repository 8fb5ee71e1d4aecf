"""How long operations took: distribution, percentiles, phases, and the course within the window."""
