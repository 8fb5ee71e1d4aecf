"""Long series of short trials of one system: the noise of a real machine, kept for replay."""
