"""Several machines on one: what they do together, how evenly, and what each loses."""
