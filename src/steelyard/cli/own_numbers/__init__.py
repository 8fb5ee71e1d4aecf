"""Commands on figures that were measured elsewhere."""
