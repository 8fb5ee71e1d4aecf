"""What a person types. The only stage that prints; stdout is data, stderr is everything else."""
