"""What all files of the catalogue have in common: settings, placeholders, conditions, lookups."""
