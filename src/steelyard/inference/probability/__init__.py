"""Laws of probability, from special functions alone."""
