"""What commands keep that make no run: a timing, a bisection, a chain of releases."""
