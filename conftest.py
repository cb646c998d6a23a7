"""What tests of several rooms share. One file for all: with doctests collected, two of the same name would clash."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from html import unescape
from importlib.util import find_spec
from urllib.parse import urljoin

import pytest

from lycosa.core.errors import InputError
from lycosa.testing import Web
from lycosa.text.meanings import ontology
from lycosa.text.ontology import Ontology
from lycosa.text.wordnet import find_wordnet

NEEDS = {
    "src/lycosa/text/embeddings.py": "wordllama",
    "src/lycosa/topics/embedding.py": "wordllama",
    "src/lycosa/text/skos.py": "rdflib",
}
"""Files whose doctests need an extra: left out where it is not installed."""

collect_ignore = [path for path, package in NEEDS.items() if find_spec(package) is None]


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Name a case: packed bytes have the time in them, and all workers have to give a test the same name."""
    return f"packed {argname}" if isinstance(val, bytes) and val.startswith(b"\x1f\x8b") else None


@pytest.fixture(scope="session")
def wordnet() -> Ontology:
    """The real WordNet. Where there is none the test is skipped by name; in CI that is a failure."""
    try:
        find_wordnet()
    except InputError as error:
        told = f"no WordNet ({error}): 'make test' gets it where it can (tools/wordnet)"
        if os.environ.get("CI") == "true":
            pytest.fail(told)
        pytest.skip(told)
    return ontology()


# -- the embedded web ------------------------------------------------------------------------------------------

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
