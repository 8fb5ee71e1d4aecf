"""Charts as SVG: scales, axes, marks and a legend of the documents that ``vega.py`` writes."""
