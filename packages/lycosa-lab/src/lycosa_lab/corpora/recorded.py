"""Recorded pages from WARC files, past crawls, directories of files and the embedded web."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from urllib.parse import quote

import numpy as np

from lycosa.collection.crawl_directory import CrawlDirectory
from lycosa.core.errors import InputError, StoreError
from lycosa.core.progress import ProgressCallback, no_progress
from lycosa.judges.taxonomy import path_of
from lycosa.replay.captures import RESPONSE
from lycosa.replay.recording import ArchiveFile, Recording, Spot
from lycosa.replay.records import ArchiveIterator, Damaged, RecordedResponse
from lycosa.spaces import web_space
from lycosa.store.log import PAGES, current_labels
from lycosa.testweb import Web
from lycosa.training.corpus import Account
from lycosa.training.page_loading import page_in
from lycosa.training.sources import HTML, IRRELEVANT, RELEVANT, TEXT, files_below, page_of, read_file
from lycosa.web import html
from lycosa.web.inflate import BadEncoding
from lycosa.web.urls import canonical, resolve
from lycosa_lab.index_writer import RecordedPage

DAMAGED, TORN = "damaged records", "records cut off at the end of a file"

BASE = "http://files.invalid/"  # this host does not exist, so no real link can point to it

UrlFilter = Callable[[str], bool]  # returns whether to include the page of a URL

_KINDS = frozenset({""}) | html.HTML | web_space.TEXT


def archive(
    paths: Sequence[Path], account: Account, keep: UrlFilter, progress: ProgressCallback = no_progress
) -> Iterator[RecordedPage]:
    """Yield the pages and redirects of WARC files and directories of them; count records that are not pages."""
    with Recording(
        paths, progress=lambda path, at, _: progress(f"looking through {path.name}", at, path.stat().st_size)
    ) as recording:
        account.notes += [note for note in recording.notes if note.startswith("left out")]
        for held in recording.archives:
            _count_rest(held, account)
            for row in np.argsort(held.index.columns["offset"], kind="stable").tolist():
                try:
                    response = held.read(row)
                    if response.revisit:
                        response = recording.response(response.url, [Spot(held, row)]) or response
                except Damaged:
                    account.left_out[DAMAGED] += 1
                    continue
                recorded = recorded_of(response, account, keep)
                if recorded is not None:
                    yield recorded


def recorded_of(response: RecordedResponse, account: Account, keep: UrlFilter) -> RecordedPage | None:
    """Return a recorded response as a page or a redirect; None after counting the reason for its exclusion."""
    url = canonical(response.url)
    if url is None:
        account.left_out["with a URL that no crawl would follow"] += 1
        return None
    if not keep(url):
        return None
    if 300 <= response.status < 400:
        target = resolve(url, [response.header(b"location")])[0] if response.header(b"location") else None
        if target is not None:
            return RecordedPage(url, target=target)
    if not 200 <= response.status < 300:
        account.left_out[f"recorded with status {response.status}"] += 1
        return None
    kind = response.header(b"content-type")
    if kind.partition(";")[0].strip().lower() not in _KINDS:
        account.left_out["neither HTML nor text"] += 1
        return None
    if url.endswith("/robots.txt") and url.count("/") == 3:
        account.left_out["robots.txt"] += 1
        return None
    try:
        return RecordedPage(url, page_in(response, url))
    except BadEncoding:
        account.left_out["with a body that can't be unpacked"] += 1
        return None


def _count_rest(held: ArchiveFile, account: Account) -> None:
    """Count records that are not captures: damaged or truncated ones, and responses to methods other than GET."""
    if held.path.suffix == ".wacz":  # a zip has other data between records, and its length is known
        return
    columns, whole = held.index.columns, held.index.facts["end"]
    order = np.argsort(columns["offset"], kind="stable")
    starts = [*columns["offset"][order].tolist(), whole]
    ends = [0, *(columns["offset"] + columns["length"])[order].tolist()]
    with open(held.path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        for begin, end in zip(ends, starts, strict=True):
            data = os.pread(file.fileno(), min(max(0, end - begin), 64_000_000), begin)
            if end <= begin:
                continue
            try:
                kinds = [int(record.record_type) for record in ArchiveIterator(io.BytesIO(data), parse_http=False)]
            except (OSError, ValueError):
                kinds = []
            if other := kinds.count(RESPONSE):
                account.left_out["answers to no GET of the web"] += other
            if not kinds and data.strip():
                account.left_out[DAMAGED] += 1
    if size > whole:
        account.left_out[TORN] += 1
        account.notes.append(f"{held.path.name}: its last {size - whole:,} bytes are an incomplete record")


def crawl(path: Path, account: Account, keep: UrlFilter, *, labelled: bool = False) -> Iterator[RecordedPage]:
    """Yield the pages of a crawl's directory in the order of their visits, with classes by their last label.

    A note reports missing labels unless `labelled` says that a table provides them.
    """
    with CrawlDirectory(path) as collection:
        log = collection.log
        labels = current_labels(log)
        empty = True
        for event in log.visits(f"({PAGES}) OR outcome = 'redirect'"):
            if not keep(event.node):
                continue
            if event.outcome == "redirect":
                if event.kind == "redirect" and event.links.urls:
                    yield RecordedPage(event.node, target=event.links.urls[0])
                continue
            empty = False
            try:
                exchange = collection.exchange(event)
            except StoreError:
                account.left_out[DAMAGED] += 1
                continue
            if exchange is None:
                account.left_out["pages that are not in the crawl's archive"] += 1
                continue
            page = page_of(collection.document(event, exchange), exchange.header("content-language"))
            given = labels.get(event.node)
            classes = () if given is None else (RELEVANT,) if given else (IRRELEVANT,)
            yield RecordedPage(event.node, page, classes=classes)
        if empty:
            raise InputError("nothing-to-do", f"{path} has no pages yet: continue with 'lycosa resume {path}'")
        if not labels and not labelled:
            account.notes.append(f"{path} has no labels: give some with 'lycosa label', or give a table with --labels")


def tree(root: Path, account: Account, keep: UrlFilter) -> Iterator[RecordedPage]:
    """Yield all HTML and text files below a directory, parents before subdirectories.

    The URL of a file is file:/// and its path below the root; its class is its directory. Links to a directory lead to
    its index.html.
    """
    has_pages = False
    for directory, file in files_below(root, account):
        suffix = file.suffix.lower()
        if suffix not in HTML + TEXT:
            account.left_out["neither HTML nor text"] += 1
            continue
        has_pages = True
        url = canonical(BASE + quote(os.fsencode(file.relative_to(root).as_posix())))
        if url is None:
            account.left_out["files with names that are too long"] += 1
            continue
        if not keep(_file_url(url)):
            continue
        try:
            page = page_of(read_file(file, url))
        except OSError:
            account.left_out["files that can't be read"] += 1
            continue
        label = path_of("/".join(directory.relative_to(root).parts))
        page.links.urls = [_file_url(link) for link in page.links.urls]
        yield RecordedPage(_file_url(url), page, classes=(label,) if label else ())
        if file.stem.lower() == "index" and suffix in HTML:
            yield RecordedPage(_file_url(url[: url.rindex("/") + 1]), target=_file_url(url))
    if not has_pages:
        raise InputError("nothing-to-do", f"{root} has no WARC files or pages ({', '.join(HTML + TEXT)})")


def _file_url(url: str) -> str:
    return "file:///" + url.removeprefix(BASE) if url.startswith(BASE) else url


def embedded(
    random_seed: int = 7, pages: int = 3000, hosts: int = 40, *, tunnels: bool = False
) -> Iterator[RecordedPage]:
    """Return all pages of a generated web without traps, with their true topics as classes."""
    web = Web(random_seed, pages=pages, hosts=hosts, traps=(), tunnels=tunnels)
    classes: dict[str, list[str]] = {}
    for topic in web.topics:
        for url in web.relevant(topic):
            classes.setdefault(url, []).append(topic)
    return (
        RecordedPage(url, page_of(html.extract(web.response(url).body, url)), classes=classes.get(url, ()))
        for url in web.urls()
        if web.canonical(url) == url
    )
