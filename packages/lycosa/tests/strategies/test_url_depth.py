"""Slashes in the path of a URL."""

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
def test_slashes_of_url(node: str, expected: int) -> None:
    """Only those of the path; a node that is not a URL is all path."""
    assert expected == slashes(node)


def taught() -> tuple[UrlDepth, Table]:
    """Return an estimator that has seen a page with three links."""
    table, estimator = Table(), UrlDepth()
    table.add_seed("http://a.org/")
    step = table.absorb(
        Visit("http://a.org/", "page", "ok", 1, links=Links.to("http://a.org/b/c", "http://a.org/b", "http://a.org/b/"))
    )
    assert step is not None
    assert [1, 2, 3] == estimator.learn(step, table).tolist()
    return estimator, table


@pytest.mark.paper("batsakis-url-depth")
def test_url_depth_prefers_fewer_slashes() -> None:
    """Also for rows that were never learned, such as the seed."""
    estimator, table = taught()
    assert [-1.0, -2.0, -1.0, -2.0] == estimator.priority(np.arange(4, dtype=np.int32), table).tolist()


def test_url_depth_reads_learned_rows_once(monkeypatch: pytest.MonkeyPatch) -> None:
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
def test_url_depth_redirect_inherits(source: str, target: str, expected: float) -> None:
    """The target has the priority of its source; a known one the better of both."""
    estimator, table = taught()
    step = table.absorb(Visit(source, "redirect", "redirect", 2, links=Links.to(target)))
    assert step is not None
    assert [expected] == estimator.priority(estimator.learn(step, table), table).tolist()
