"""Figures, pages and texts as people see them.

figure     figures as data: curves, bars or counts in bins over axes; ticks; block characters for a terminal
svg        a figure as SVG, in a page and as a file; figure.css has its colours
formats    numbers, times and strangers' texts as people read them
pages      the one place that sets Jinja up
"""
