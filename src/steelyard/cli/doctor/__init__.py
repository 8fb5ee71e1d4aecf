"""``steelyard doctor``: whether this machine can measure."""
