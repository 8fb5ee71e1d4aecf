"""The Rust binary as Python sees it: where it is, what it says, and the pipe to its agent."""
