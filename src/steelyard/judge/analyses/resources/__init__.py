"""What the machines were doing while the systems were measured."""
