"""What is driven and what is measured of it: loads, protocols, probes, events, responses."""
