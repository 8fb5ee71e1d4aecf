"""The parts of a platform that is driven by the commands of its file."""
