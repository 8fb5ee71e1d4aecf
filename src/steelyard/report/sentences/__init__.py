"""What puts several findings, or several figures of one, into sentences."""
