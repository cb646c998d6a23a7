"""What an experiment found, for people: a page, pictures, tables for LaTeX; and two of them compared.

`write_report` writes a directory: index.html (one page that needs nothing but itself), figures/KEY.svg and .png,
tables/KEY.tex and .csv, report.json (all that a rerun gives again, to the byte) and times.json (what it does not).
"""

from lycosa.lab.report.comparing import compare
from lycosa.lab.report.writing import need, write_report

__all__ = ["compare", "need", "write_report"]
