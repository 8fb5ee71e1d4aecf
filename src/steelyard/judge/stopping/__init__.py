"""When a study, a workload or a system needs no further visit."""
