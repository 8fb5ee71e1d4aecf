"""A results folder as web pages: a reader, which changes nothing."""
