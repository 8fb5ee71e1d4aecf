"""How long it takes to have a system as it was: from the order to an agent that answers."""
