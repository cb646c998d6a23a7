"""URLs of the embedded web."""

import pytest

from lycosa.testweb.addresses import AddressBook
from lycosa.testweb.site_graph import SiteGraph


@pytest.fixture(scope="module")
def book() -> AddressBook:
    return AddressBook(SiteGraph(3, 600, 20), 8080, documents=True)


def test_find_inverts_url(book: AddressBook) -> None:
    urls = [book.url(page) for page in range(book.graph.pages)]
    assert len(set(urls)) == len(urls)
    assert [book.find(*book.split(url)) for url in urls] == list(range(len(urls)))


def test_find_rejects_other_notations(book: AddressBook) -> None:
    page = next(page for page in range(book.graph.pages) if "-" in book.path(page))
    name, path = book.split(book.url(page))
    assert book.find(name, path) == page
    assert book.find(name, path.upper()) is None
    assert book.find(name, f"{path}?x=1") is None
    assert book.find(name, "/no-such-page-7.html") is None
    assert book.find("unknown.localhost", path) is None


def test_split_returns_host_and_path_with_query() -> None:
    assert AddressBook.split("http://a.localhost:80/x?y=1#z") == ("a.localhost", "/x?y=1")
    assert AddressBook.split("http://a.localhost") == ("a.localhost", "/")
    assert AddressBook.split("http://a.localhost/#/page/3") == ("a.localhost", "/page/3")
    assert AddressBook.split("https://a.localhost/") == AddressBook.split("http://[x") == ("", "")


def test_base_omits_default_port(book: AddressBook) -> None:
    assert book.base("a.localhost") == "http://a.localhost:8080"
    assert AddressBook(book.graph, 80).base("a.localhost") == "http://a.localhost"


def test_is_document_for_about_one_in_eight(book: AddressBook) -> None:
    documents = [page for page in range(book.graph.pages) if book.is_document(page)]
    assert 30 < len(documents) < 120
    assert not any(page in book.graph.bridges or book.graph.topic(page) < 0 for page in documents)
    assert not AddressBook(book.graph, 0).is_document(documents[0])
