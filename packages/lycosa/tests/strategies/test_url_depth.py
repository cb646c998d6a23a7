"""Slashes in the path of an address."""

import numpy as np
import pytest

from lycosa.core.table import Table
from lycosa.core.types import Links, Visit
from lycosa.strategies import baselines
from lycosa.strategies.baselines import UrlDepth, slashes


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        ("http://example.org", 0),
        ("http://example.org/", 1),
        ("http://example.org/a", 1),
        ("http://example.org/a/b.html", 2),
        ("http://example.org/a/b/", 3),
        ("http://example.org/a?next=/b/c", 1),
        ("http://example.org?next=/b/c", 0),
        ("http://example.org/a#/b/c", 1),
        ("http://example.org/a?from=http://x.org/y", 1),
        ("http://example.org/mirror/http://x.org/y", 5),
        ("n12", 0),
        ("a/b/c", 2),
        ("a/http://b/c", 4),
        ("", 0),
    ],
)
def test_slashes_of_an_address(node: str, expected: int) -> None:
    """Those of the path: not of scheme and host, nor of query and fragment; a node that is no URL is all path."""
    assert expected == slashes(node)


def taught() -> tuple[UrlDepth, Table]:
    """A page with three links."""
    table, estimator = Table(), UrlDepth()
    table.add_seed("http://a.org/")
    step = table.absorb(
        Visit("http://a.org/", "page", "ok", 1, links=Links.to("http://a.org/b/c", "http://a.org/b", "http://a.org/b/"))
    )
    assert step is not None
    assert [1, 2, 3] == estimator.learn(step, table).tolist()
    return estimator, table


@pytest.mark.paper("batsakis-url-depth")
def test_fewer_slashes_come_first() -> None:
    """Minus the number of slashes, also of rows that were never learned: the seed."""
    estimator, table = taught()
    assert [-1.0, -2.0, -1.0, -2.0] == estimator.priority(np.arange(4, dtype=np.int32), table).tolist()


def test_learned_rows_are_not_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Scoring them is an array access; only the seed is looked at."""
    estimator, table = taught()
    read: list[str] = []
    monkeypatch.setattr(baselines, "slashes", lambda node: read.append(node) or 0)
    estimator.priority(np.arange(4, dtype=np.int32), table)
    assert ["http://a.org/"] == read


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        ("http://a.org/b/c", "http://a.org/x/y/z/", -2.0),  # new
        ("http://a.org/b/c", "http://a.org/x", -2.0),  # new
        ("http://a.org/b/c", "http://a.org/b", -1.0),  # known, with fewer slashes
        ("http://a.org/b", "http://a.org/b/c", -1.0),  # known, with more
    ],
)
def test_the_target_of_a_redirect_takes_the_place_of_its_source(source: str, target: str, expected: float) -> None:
    """It scores as its source did; one that is known already as the better of both."""
    estimator, table = taught()
    step = table.absorb(Visit(source, "redirect", "redirect", 2, links=Links.to(target)))
    assert step is not None
    assert [expected] == estimator.priority(estimator.learn(step, table), table).tolist()
