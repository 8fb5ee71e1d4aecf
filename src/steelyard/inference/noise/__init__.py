"""What is taken out of visits before they are compared, and robust spreads."""
