"""Several machines: what is said of all of these, and of others like them."""
