"""How long a report takes, what memory and how many bytes, as studies grow."""
