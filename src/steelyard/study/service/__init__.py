"""Services as data: what a service file declares, its places, and what can be wrong with it."""
