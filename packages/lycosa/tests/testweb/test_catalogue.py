"""Library of the embedded web: hidden records that only a search form finds."""

import re
from hashlib import sha256

from lycosa.testweb import Web
from lycosa.testweb.catalogue import SHELF, Catalogue

CORAL = "marine biology/coral reefs"
LIBRARY = "http://old-library.localhost"
DIGEST = "ade8cb9c31f253c60a030b1864123972febcc6850e4546ab03cd459f35d43ccc"


def body(web: Web, path: str) -> str:
    return web.response(f"{LIBRARY}{path}").body.decode()


def listed(html: str) -> list[str]:
    """Return the records listed on a results page."""
    return re.findall(r'<li><a href="(/record/[^"]+)"', html)


def test_records_are_served_but_not_linked(clean: Web) -> None:
    records = clean.records()
    assert 2000 == len(records) == len(set(records))
    assert all(200 == clean.response(url).status for url in records[::100])
    assert not set(records).intersection(clean.urls())
    assert not any(b"old-library" in clean.response(url).body for url in list(clean.urls())[::30])


def test_library_leaves_other_pages_unchanged(wild: Web) -> None:
    urls = [*list(wild.urls())[::60], *wild.trap_urls("calendar")[:3], "http://no-such-host.localhost/"]
    digest = sha256(b"".join(wild.response(url).body for url in urls)).hexdigest()
    assert DIGEST == digest
    assert "old-library.localhost" not in wild.hosts


def test_search_page_lists_twenty_records(clean: Web) -> None:
    books = Catalogue(clean.seed)
    found = books.search("water")
    first, second = body(clean, "/search?q=water"), body(clean, "/search?q=water&page=2")
    assert len(found) > 2 * SHELF
    assert [books.path(number) for number in found[:20]] == listed(first)
    assert [books.path(number) for number in found[20:40]] == listed(second)
    assert f"<p>{len(found)} records found" in first
    assert '<a rel="next" href="/search?q=water&amp;page=2">' in first
    assert '<a rel="prev" href="/search?q=water&amp;page=1">' in second
    number = found[0]
    assert "water" in f"{books.title(number)} {books.abstract(number)}".lower()


def test_search_pages_list_all_records_once(clean: Web) -> None:
    books = Catalogue(clean.seed)
    count = len(books.search("water"))
    pages = [body(clean, f"/search?q=water&page={page}") for page in range(1, -(-count // SHELF) + 1)]
    assert count == len({path for page in pages for path in listed(page)})
    assert [True] * (len(pages) - 1) + [False] == ['rel="next"' in page for page in pages]


def test_search_without_results_is_empty(clean: Web) -> None:
    assert "Nothing found for <b>zzyzx</b>" in body(clean, "/search?q=zzyzx")
    for path in ("/search?q=zzyzx", "/search?q=water&page=99", "/search?q=water&page=0", "/search"):
        assert [] == listed(body(clean, path))
        assert 200 == clean.response(LIBRARY + path).status
    assert 404 == clean.response(f"{LIBRARY}/record/1").status
    assert "Allow: /" in body(clean, "/robots.txt")


def test_search_escapes_query(clean: Web) -> None:
    assert "<script>" not in body(clean, "/search?q=%3Cscript%3E")


def test_records_of_topic_have_its_words(clean: Web) -> None:
    coral = clean.records(CORAL)
    assert set(coral) < set(clean.records())
    assert 30 < len(coral) < 90
    texts = [clean.response(url).body.lower() for url in coral]
    assert sum(b"coral" in text or b"reef" in text for text in texts) > 0.8 * len(texts)


def test_search_result_counts_are_skewed() -> None:
    books = Catalogue(7)
    sizes = sorted(len(found) for found in books._index.values())
    assert sizes[len(sizes) // 5] == 1
    assert sizes[len(sizes) // 2] < SHELF
    assert sizes[-50] > 15 * SHELF
