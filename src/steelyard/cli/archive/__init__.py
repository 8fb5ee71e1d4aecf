"""Commands that read runs again: reports, histories, queries, publications."""
