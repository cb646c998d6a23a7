"""Charts, HTML templates and text formatting.

figure     charts as data, axis ticks, block characters for a terminal
svg        charts as SVG; figure.css has the colours
formats    numbers, times and untrusted text for people
templates  Jinja environment for self-contained pages
"""
