"""SQL over the records of many runs, of one laboratory or several; read only."""
