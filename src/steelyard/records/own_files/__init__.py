"""Text files of the user's own: trials, stored series, notes for a report."""
