"""How long requests took in all, from their distributions: the table that ApacheBench prints."""
