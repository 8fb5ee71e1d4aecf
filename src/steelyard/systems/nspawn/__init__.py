"""Containers run by systemd-nspawn: the root they stand on, and the place made of it."""
