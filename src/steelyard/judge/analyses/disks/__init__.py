"""Whether disks still held what was written to them."""
