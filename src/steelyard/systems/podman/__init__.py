"""Containers run by Podman: the tool, the image, the words of a run, the place made of them."""
