"""A report cut by the levels of one factor, with means over the levels of another."""
