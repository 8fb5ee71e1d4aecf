"""What a study and its records show of the validity of its verdicts."""
