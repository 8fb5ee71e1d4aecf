"""One file for each subject: a table in, findings out."""
