"""A study over time: from the findings of its runs to one series for each comparison."""
