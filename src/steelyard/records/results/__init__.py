"""What commands keep that make no run: a timing, a bisection, a search, a chain of releases."""
