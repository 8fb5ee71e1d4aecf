"""Images that systems start from: recipes as data, built from packages, kept by their digest."""
