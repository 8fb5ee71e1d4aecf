"""What every platform promises, as checks that run on the real thing: for tests and for users."""
