"""Labelled pages from the web, served on loopback."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from lycosa.core.errors import InputError
from lycosa.core.options import Options
from lycosa.testweb import Server, Web, serve
from lycosa.training.corpus import Corpus
from lycosa.training.looking import fetched


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """A web without traps."""
    with serve(Web(seed=7, pages=120, hosts=6, traps=()), record=False) as serving:
        yield serving


def test_pages_are_fetched_and_failures_counted(server: Server) -> None:
    """Pages come in the order of the table, whoever answers first; what fails is counted, and told in words."""
    urls = [url for url, _ in zip(server.web.urls(), range(12), strict=False)]
    asked = [*urls, "http://no-such-host.invalid/", urls[0] + "no-such-page"]
    corpus, told = Corpus(), []
    options = Options(allow_network=["127.0.0.0/8"], delay=0.0, traps=False)
    look = fetched(options)
    got = [url for url, _ in look(asked, corpus, lambda what, done, total: told.append((what, done, total)))]
    assert got == [url for url in urls if url in got]
    assert len(got) >= 8
    assert len(asked) == len(got) + corpus.left_out["can't be fetched"]
    assert any("no-such-host.invalid" in note for note in corpus.notes)
    assert ("fetching pages", 14, 14) == told[-1]


def test_addresses_that_are_not_public_are_refused(server: Server) -> None:
    """The guard of a crawl guards here, too."""
    corpus = Corpus()
    got = list(fetched(Options(delay=0.0, traps=False))([next(server.web.urls())], corpus, lambda *_: None))
    assert ([], 1) == (got, corpus.left_out["can't be fetched"])


def test_a_bad_proxy_is_an_error() -> None:
    """What can't work at all is told at once."""
    with pytest.raises(InputError):
        list(fetched(Options(proxy="ftp://nowhere", traps=False))(["http://a.test/"], Corpus(), lambda *_: None))
