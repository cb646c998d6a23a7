"""The example of the rules paper."""

from lycosa.strategies.rulebook import RuleBook

TABLE_1 = {
    "DH": {"CH": 8, "PH": 1, "SP": 1},
    "CH": {"DH": 2, "CH": 4, "PH": 4},
    "PH": {"DH": 3, "CH": 4, "PH": 3},
    "SP": {"SP": 10},
}
"""Classes of the ten pages in train-1 that each class of train-0 links to."""


def paper_rules() -> RuleBook:
    """Return the rules of table 2, counted from table 1."""
    book = RuleBook()
    for source, row in TABLE_1.items():
        for to, count in row.items():
            book.add(source, to, count)
    return book
