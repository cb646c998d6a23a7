"""Public corpora: downloads and readers.

Archives are streamed and never unpacked to disk: member names never become paths, links and devices are skipped, and
the unpacked size is limited.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from urllib.parse import quote

import aiohttp
from yarl import URL

from lycosa.collection.crawl_directory import MAX_BODY_BYTES
from lycosa.core.errors import InputError
from lycosa.core.files import atomic_write
from lycosa.core.options import Options
from lycosa.core.progress import ProgressCallback, no_progress
from lycosa.judges.taxonomy import path_of
from lycosa.replay.places import cache_directory
from lycosa.spaces.making import guard_of, user_agent, wall_clock
from lycosa.store.unpacking import ARCHIVE_ERRORS, ArchiveTooLarge, iter_files
from lycosa.training.corpus import Account
from lycosa.training.sources import open_unpacked, page_of
from lycosa.web.guard import DnsCache, Resolver
from lycosa.web.html import extract
from lycosa.web.urls import canonical
from lycosa_lab.index_writer import RecordedPage

MAX_DOWNLOAD_BYTES, MAX_UNPACKED_BYTES, MAX_MEMBERS = 1_000_000_000, 4_000_000_000, 1_000_000

# Line under an article's title with its categories.
_SUBJECTS = re.compile(rb'<h3 id="siteSub">.*?</h3>', re.DOTALL)


@dataclass(frozen=True)
class PublicCorpus:
    about: str
    urls: tuple[str, ...]
    read: Callable[[list[Path], Account], Iterator[RecordedPage]]


def corpus(name: str) -> PublicCorpus:
    if name not in CORPORA:
        about = "; ".join(f"{name} ({one.about})" for name, one in CORPORA.items())
        raise InputError("unknown-name", f"unknown public corpus {name!r}: choose one of {about}")
    return CORPORA[name]


def files(name: str, progress: ProgressCallback = no_progress) -> list[Path]:
    into = cache_directory() / "corpora" / name
    return [download(url, into / Path(URL(url).path).name, Options(), progress) for url in corpus(name).urls]


def pages(name: str, account: Account, progress: ProgressCallback = no_progress) -> Iterator[RecordedPage]:
    """Yield the pages of a corpus, without pages and text that reveal its labels."""
    return corpus(name).read(files(name, progress), account)


def download(url: str, file: Path, options: Options, progress: ProgressCallback = no_progress) -> Path:
    if not file.exists():
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            asyncio.run(_download(url, file, options, progress))
        except (aiohttp.ClientError, OSError, TimeoutError, ValueError) as error:
            raise InputError(
                "fetch-failed",
                f"cannot download {url}: {error or type(error).__name__}; or put the file into {file.parent} yourself",
            ) from error
    return file


async def _download(url: str, file: Path, options: Options, progress: ProgressCallback) -> None:
    guard, names = guard_of(options), DnsCache(wall_clock())
    session = aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(
            resolver=Resolver(names), use_dns_cache=False, socket_factory=guard.socket_factory
        ),
        cookie_jar=aiohttp.DummyCookieJar(),
        auto_decompress=False,
        headers={"User-Agent": user_agent(options), "Accept-Encoding": "identity"},
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=30.0, sock_read=30.0),
        raise_for_status=True,
    )
    try:
        async with session, session.get(url, max_redirects=5) as response:
            total, size = response.content_length or 0, 0
            with atomic_write(file) as written:
                async for chunk in response.content.iter_chunked(1 << 16):
                    size += len(chunk)
                    if max(size, total) > MAX_DOWNLOAD_BYTES:
                        raise ValueError(f"it has more than {MAX_DOWNLOAD_BYTES:,} bytes")
                    written.write(chunk)
                    progress(f"downloading {file.name}", size, total)
    finally:
        await names.close()


def members(path: Path) -> Iterator[tuple[PurePosixPath, Callable[[], bytes]]]:
    """Yield the path of each regular file of a packed tar archive, and a function that reads its beginning."""
    try:
        with open_unpacked(path) as stream:
            for name, content in iter_files(stream, MAX_UNPACKED_BYTES, MAX_MEMBERS):
                yield name, partial(content.read, MAX_BODY_BYTES)
    except (ArchiveTooLarge, *ARCHIVE_ERRORS) as error:
        raise InputError("bad-file", f"cannot read {path} as an archive: {error or type(error).__name__}") from error


def _wikispeedia(files: list[Path], account: Account) -> Iterator[RecordedPage]:
    """Yield the pages below wpcd/, without the category lines and lists of articles that reveal the labels."""
    classes, known = _categories(files[0]), set()
    for name, read in members(files[1]):
        parts = name.parts[name.parts.index("wpcd") + 1 :] if "wpcd" in name.parts else ()
        if not parts or name.suffix.lower() not in (".htm", ".html"):
            account.left_out["neither HTML nor text"] += 1
            continue
        if parts[:2] == ("wp", "index"):
            account.left_out["lists of articles"] += 1
            continue
        url = canonical("http://wikispeedia.test/" + quote("/".join(parts).encode("utf-8", "surrogateescape")))
        if url is None:
            continue
        own = classes.get(name.stem, ())
        if own:
            known.add(name.stem)
        yield RecordedPage(url, page_of(extract(_SUBJECTS.sub(b"", read(), count=1), url)), classes=own)
    if len(known) < len(classes):
        account.left_out["articles with categories, but no page"] += len(classes) - len(known)


def _categories(path: Path) -> dict[str, list[str]]:
    """Return the categories of articles from lines of an article's name, a tab, and subject.A.B."""
    classes: dict[str, list[str]] = {}
    for name, read in members(path):
        if name.name == "categories.tsv":
            for line in read().split(b"\n"):
                article, tab, category = line.decode("utf-8", "replace").rstrip("\r").partition("\t")
                label = path_of(category.removeprefix("subject.").replace(".", "/"))
                if tab and label and not article.startswith("#"):
                    classes.setdefault(article, []).append(label)
    if not classes:
        raise InputError("bad-file", f"{path} has no categories.tsv: remove it to download it again")
    return classes


def _webkb(files: list[Path], account: Account) -> Iterator[RecordedPage]:
    """Yield the pages in files class/university/URL, whose URL has ^ for slashes; files start with HTTP headers."""
    for name, read in members(files[0]):
        if len(name.parts) < 3 or not name.name.startswith(("http:^^", "https:^^")):
            account.left_out["files that are not pages"] += 1
            continue
        url = canonical(name.name.replace("^", "/"))
        if url is None:
            account.left_out["with an address that no crawl would follow"] += 1
            continue
        yield RecordedPage(url, page_of(extract(_without_headers(read()), url)), classes=(name.parts[-3],))


def _without_headers(content: bytes) -> bytes:
    """Return a page without the HTTP headers at its beginning.

    >>> _without_headers(b"Date: Tuesday\\r\\nServer: x\\r\\n\\r\\n<p>"), _without_headers(b"<p>a: b\\n\\nc")
    (b'<p>', b'<p>a: b\\n\\nc')
    """
    unix = content.replace(b"\r\n", b"\n") if b"\r\n" in content[:1000] else content
    head, blank, body = unix.partition(b"\n\n")
    lines = head.split(b"\n")
    if lines[0].startswith(b"HTTP/"):
        lines = lines[1:]
    like = all(line.partition(b":")[0].replace(b"-", b"").isalnum() and b":" in line for line in lines)
    return body if blank and lines and like else content


_SNAP = "https://snap.stanford.edu/data/wikispeedia/"

CORPORA = {
    "wikispeedia": PublicCorpus(
        "Wikipedia for Schools, 2007: 4,604 articles with categories (West and Leskovec 2012; text under the GFDL)",
        (f"{_SNAP}wikispeedia_paths-and-graph.tar.gz", f"{_SNAP}wikispeedia_articles_html.tar.gz"),
        _wikispeedia,
    ),
    "webkb": PublicCorpus(
        "Computer science departments, 1997: 8,000 pages in seven classes (CMU World Wide Knowledge Base)",
        ("http://www.cs.cmu.edu/afs/cs.cmu.edu/project/theo-20/www/data/webkb-data.gtar.gz",),
        _webkb,
    ),
}
