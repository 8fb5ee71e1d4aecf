"""Whether published measurements agree with each other: a table in, findings out."""
