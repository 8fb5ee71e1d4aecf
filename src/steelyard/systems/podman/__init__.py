"""Containers run by Podman: the tool, the image, the arguments of a run, the platform."""
