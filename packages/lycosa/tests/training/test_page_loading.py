"""Pages from the web, served on loopback."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from input_errors import raises_input_error
from lycosa.core.options import Options
from lycosa.testweb import Server, Web, serve
from lycosa.training.corpus import Corpus
from lycosa.training.page_loading import fetched_pages


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serve(Web(seed=7, pages=120, hosts=6, traps=()), record=False) as serving:
        yield serving


def test_fetched_pages_in_order_with_failures(server: Server) -> None:
    urls = [url for url, _ in zip(server.web.urls(), range(12), strict=False)]
    requested = [*urls, "http://no-such-host.invalid/", urls[0] + "no-such-page"]
    corpus, progress = Corpus(), []
    options = Options(allow_network=["127.0.0.0/8"], delay=0.0, traps=False)
    load_pages = fetched_pages(options)
    got = [
        url for url, _ in load_pages(requested, corpus, lambda what, done, total: progress.append((what, done, total)))
    ]
    assert got == [url for url in urls if url in got]
    assert len(got) >= 8
    assert len(requested) == len(got) + corpus.left_out["can't be fetched"]
    assert any("no-such-host.invalid" in note for note in corpus.notes)
    assert ("fetching pages", 14, 14) == progress[-1]


def test_fetched_pages_rejects_private_addresses(server: Server) -> None:
    corpus = Corpus()
    got = list(fetched_pages(Options(delay=0.0, traps=False))([next(server.web.urls())], corpus, lambda *_: None))
    assert ([], 1) == (got, corpus.left_out["can't be fetched"])


def test_fetched_pages_rejects_bad_proxy() -> None:
    with raises_input_error("bad-url"):
        list(fetched_pages(Options(proxy="ftp://nowhere", traps=False))(["http://a.test/"], Corpus(), lambda *_: None))
