"""One module for each page: what is asked for, what stands on it, and the same as JSON."""
