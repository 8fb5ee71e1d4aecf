"""The report as an article: LaTeX source with its figures and numbers, or the PDF made of it."""

SOURCE, NUMBERS = "article.tex", "numbers.tex"
"""Files of an article, below its folder."""
