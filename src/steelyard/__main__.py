"""``python -m steelyard``."""

from steelyard.cli.entry import main

main()
