"""Runs on the queue of a laboratory: what is asked of Slurm, and what it answers."""
