"""From the file as written to the study: names looked up, quantities and levels resolved."""
