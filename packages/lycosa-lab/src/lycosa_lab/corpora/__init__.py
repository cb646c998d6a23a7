"""Corpus sources: each module turns one kind of source into recorded pages or a graph."""
