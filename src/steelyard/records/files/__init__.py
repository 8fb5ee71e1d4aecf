"""Files of a run: written durably, with checksums, and read in this version or an earlier one."""
