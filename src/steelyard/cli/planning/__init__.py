"""Commands before a run: a study to start from, its plan, its noise, its changes."""
