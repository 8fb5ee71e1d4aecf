"""Whether what was measured had warmed up: throughput within the windows."""
