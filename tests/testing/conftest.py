"""Webs shared by the tests of the embedded web, and a reader of their links."""

import re
from collections.abc import Callable
from html import unescape
from urllib.parse import urljoin

import pytest

from lycosa.testing import Web

Links = Callable[[Web, str], list[str]]


@pytest.fixture(scope="session")
def clean() -> Web:
    """The default web without traps."""
    return Web(traps=())


@pytest.fixture(scope="session")
def wild() -> Web:
    """The default web with all traps."""
    return Web()


@pytest.fixture(scope="session")
def links() -> Links:
    """A function from a page to the URLs it links to."""

    def read(web: Web, url: str) -> list[str]:
        html = web.response(url).body.decode("utf-8", "replace")
        return [urljoin(url, unescape(href)) for href in re.findall(r'<a href="([^"]*)"', html)]

    return read


@pytest.fixture(scope="session")
def arrows(clean: Web, links: Links) -> dict[str, list[str]]:
    """The whole link graph of the clean web."""
    return {url: links(clean, url) for url in clean.urls()}
