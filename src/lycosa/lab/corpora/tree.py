"""A tree of HTML files as a corpus: names are paths below its root, links lead from file to file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from lycosa.core.errors import InputError
from lycosa.core.types import Page
from lycosa.lab.corpora.archive import Keep
from lycosa.lab.indexing import Account, Recorded
from lycosa.topics.taxonomy import path_of
from lycosa.training.sources import HTML, TEXT, files_below, page_of, read_file
from lycosa.web.urls import canonical

BASE = "http://files.invalid/"
"""Where files are while their links are resolved: there is no such host, so that no link to the web can be meant."""

NAMED = "file:///"


def tree(root: Path, account: Account, keep: Keep) -> Iterator[Recorded]:
    """All HTML and text files below a directory, those of a directory before those of its directories.

    A file is called file:/// and its path below the root; its class is its directory. A link to a directory leads to
    its index.html.
    """
    found = False
    for directory, file in files_below(root, account):
        suffix = file.suffix.lower()
        if suffix not in HTML + TEXT:
            account.left_out["neither HTML nor text"] += 1
            continue
        found = True
        url = canonical(BASE + quote(os.fsencode(file.relative_to(root).as_posix())))
        if url is None:
            account.left_out["files with names that are too long"] += 1
            continue
        if not keep(_named(url)):
            continue
        try:
            page = page_of(read_file(file, url))
        except OSError:
            account.left_out["files that can't be read"] += 1
            continue
        account.read += 1
        label = path_of("/".join(directory.relative_to(root).parts))
        yield Recorded(_named(url), _renamed(page), classes=(label,) if label else ())
        if file.stem.lower() == "index" and suffix in HTML:
            yield Recorded(_named(url[: url.rindex("/") + 1]), target=_named(url))
    if not found:
        raise InputError(
            f"{root} has neither WARC files nor pages below it: files whose names end in {', '.join(HTML + TEXT)}"
        )


def _named(url: str) -> str:
    return NAMED + url.removeprefix(BASE) if url.startswith(BASE) else url


def _renamed(page: Page) -> Page:
    page.links.urls = [_named(url) for url in page.links.urls]
    return page
