"""The Rust binary as Python sees it: where it is, its messages, and the pipe to its agent."""
