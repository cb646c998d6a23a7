"""Topics: anything that can judge. beta of a page, alpha of each of its links."""
