"""What a pipeline asks for: a gate with the base beside the candidate, and a comment on it."""
