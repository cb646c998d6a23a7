"""Tests of the columns of known links."""

from __future__ import annotations

import numpy as np
import pytest

from lycosa.core.types import Links
from lycosa.strategies.scent.known_links import BYTES, KnownLinks
from lycosa.strategies.scent.ranking import BestRows
from scent_crawl import HERON, SALMON, SEED, TROUT, Crawl, close


def test_set_words_keeps_first_words() -> None:
    """Contexts are cut to 12 words, anchors and URLs to 8; here 13 and 1, 0 and 9, 1 and 9 words."""
    lengths = [13, 1, 0, 9, 1, 9]
    owner = np.repeat(np.arange(6), lengths)
    slots = np.arange(1, 1 + sum(lengths), dtype=np.int32)
    known_links = KnownLinks()
    known_links.fit(4)
    known_links.groups["host"] = 5
    links = known_links.take(np.array([1, 3]))
    links.set_words(owner, slots, np.array(lengths), np.cumsum(lengths) - lengths)
    known_links.put(links)
    context, anchor, address = (known_links.groups[name] for name in ("context", "anchor", "address"))
    assert list(range(1, 13)) == context[1].tolist()
    assert [14, *(11 * [0])] == context[3].tolist()
    assert 8 * [0] == anchor[1].tolist()
    assert list(range(15, 23)) == anchor[3].tolist()
    assert [24, *(7 * [0])] == address[1].tolist()
    assert list(range(25, 33)) == address[3].tolist()
    assert not any(words[[0, 2]].any() for words in (context, anchor, address))
    assert 4 * [5] == known_links.groups["host"][:4].tolist()
    assert [[12, 1], [0, 8]] == [
        pytest.approx(known_links.numbers[name][[1, 3]] ** 2) for name in ("context_root", "anchor_root")
    ]


def test_neighbours_end_after_four_positions() -> None:
    crawl = Crawl()
    urls = [f"http://b.test/{number}" for number in range(40)]
    crawl.visit(SEED, 0.5, Links.to(*urls))
    crawl.visit(urls[0], 0.3)
    known = crawl.scent.links_.numbers[[crawl.row(url) for url in urls]]
    assert [0, *(0.6**d for d in range(1, 5)), *(35 * [0])] == pytest.approx(known["neighbour_weight"].tolist())
    assert [0, *(0.3 * 0.6**d for d in range(1, 5)), *(35 * [0])] == pytest.approx(known["neighbour_sum"].tolist())


@pytest.mark.parametrize("fetched", [0, 1, 2])
def test_neighbours_are_credited_once(fetched: int) -> None:
    crawl = Crawl()
    urls = [SALMON, TROUT, HERON]
    crawl.visit(SEED, 0.5, Links.to(*urls))
    crawl.visit(urls[fetched], 0.3)
    known = crawl.scent.links_.numbers
    for place, url in enumerate(urls):
        apart = abs(place - fetched)
        assert close(0.6**apart if apart else 0.0) == known["neighbour_weight"][crawl.row(url)]


def test_set_addresses_ignores_query() -> None:
    known_links = KnownLinks()
    known_links.fit(5)
    addresses = [
        "http://b.test/a/b",
        "http://b.test/a/c?d=e/f",
        "http://b.test/a/",
        "http://b.test",
        "http://b.test/?a/b",
    ]
    known_links.set_addresses([*range(5)], addresses)
    a, b, c, bare, query = known_links.groups["directory"][:5].tolist()
    assert a == b == c != bare == query
    assert 1 == len(set(known_links.groups["host"][:5].tolist()))


def test_link_takes_219_bytes() -> None:
    known_links, best = KnownLinks(), BestRows()
    known_links.fit(1)
    best.fit(1)
    columns = [*known_links.columns().values(), best.priority, best._until]
    assert 219 == BYTES == sum(column.nbytes // len(column) for column in columns)
