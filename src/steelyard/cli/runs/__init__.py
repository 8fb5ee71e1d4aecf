"""``steelyard runs``: which runs there are, how large they are, and deleting them."""
