"""Results of other tools: files to records, and records to findings. Nothing is measured here."""
