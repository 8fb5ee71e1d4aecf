"""Containers run by systemd-nspawn: their root filesystem, and the platform."""
