"""Classes of pages from a table: what the truth of an experiment is made of."""

from __future__ import annotations

from pathlib import Path

from lycosa.lab.indexing import Account
from lycosa.training.sources import labelled


def read_labels(path: Path, account: Account, column: str = "") -> dict[str, list[str]]:
    """All classes of each address, in the order of the table; addresses are canonical, as those of pages are.

    A row a line, columns between tabs, the address in the first, the class (or its path in a taxonomy) in the second or
    in that which `column` names by title or number. Several rows may be of one address. What can't be used is counted.
    """
    found: dict[str, list[str]] = {}
    own = Account()
    for url, label in labelled(path, own, column):
        classes = found.setdefault(url, [])
        if label not in classes:
            classes.append(label)
    account.left_out.update({f"{reason} in the labels": count for reason, count in own.left_out.items()})
    account.notes += own.notes
    return found
