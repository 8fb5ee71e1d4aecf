"""What commands print as their answer."""
