"""What is seen of a session while it runs: a block on a terminal, lines, or events for programs."""
