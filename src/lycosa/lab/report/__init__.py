"""Reports of experiments: a page, pictures, tables.

`write_report` writes a directory: index.html (one page that needs nothing but itself), figures/KEY.svg and .csv,
tables/KEY.csv, report.json (all that a rerun gives again, to the byte) and times.json (what it does not).
"""

from lycosa.lab.report.writing import need, write_report

__all__ = ["need", "write_report"]
