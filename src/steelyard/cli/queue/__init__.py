"""``steelyard submit``, and what ``steelyard runs`` says of the queue."""
