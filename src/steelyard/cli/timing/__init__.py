"""Two or more subjects on the command line, no file: commands, and servers that run already."""
