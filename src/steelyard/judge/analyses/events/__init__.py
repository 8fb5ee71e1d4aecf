"""When the events of a study happened, and the rate of answers around them."""
