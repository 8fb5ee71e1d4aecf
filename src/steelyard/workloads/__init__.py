"""What a trial drives."""
