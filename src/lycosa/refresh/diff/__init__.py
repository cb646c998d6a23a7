"""Two versions of a page side by side: blocks aligned, words added and removed; in a terminal and on a page of HTML.

blocks      a text as blocks of words
alignment   what two sequences have in common
rows        which block became which, and which words of it changed, as a person would mark it
comparison  two versions: their words, titles and links, and what the revisit recorded
terminal    as text; page as HTML
"""

from lycosa.refresh.diff.comparison import Comparison, Version, compare
from lycosa.refresh.diff.page import render
from lycosa.refresh.diff.rows import Diff, Row, Run, diff

__all__ = ["Comparison", "Diff", "Row", "Run", "Version", "compare", "diff", "render"]
