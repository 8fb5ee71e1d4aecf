"""The report as one HTML page: a module and a template for each section, in reading order."""
