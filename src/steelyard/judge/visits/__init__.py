"""Records to one number a visit: what comparisons are judged by."""
