"""Public corpora: where they are, and how each becomes an index.

Archives are read member by member and never unpacked: no name in them becomes a path, links and devices are passed
over, and what they hold has a limit.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote

import aiohttp
from yarl import URL

from lycosa.collection.reading import INFLATED
from lycosa.core.errors import InputError, StoreError
from lycosa.core.files import replacing, sync
from lycosa.core.options import Options
from lycosa.core.telling import Tell, silent
from lycosa.lab.corpora.graph import write_graph
from lycosa.lab.corpora.opening import choosing
from lycosa.lab.corpora.recorded import Keep
from lycosa.lab.index import Index
from lycosa.lab.indexing import Account, Recorded, unfinished, write_index
from lycosa.replay.places import cache_directory
from lycosa.spaces.making import guard_of, user_agent, wall_clock
from lycosa.store.unpacking import DAMAGE, BadArchive, plain_files
from lycosa.topics.taxonomy import path_of
from lycosa.training.sources import page_of, unpacked
from lycosa.web.guard import Names, Resolver, is_refusal
from lycosa.web.html import extract
from lycosa.web.urls import canonical, resolve

MAX_UNPACKED_BYTES, MAX_MEMBERS = 4_000_000_000, 1_000_000

# The line under an article's title that names its categories.
_SUBJECTS = re.compile(rb'<h3 id="siteSub">.*?</h3>', re.DOTALL)


@dataclass(frozen=True)
class File:
    url: str
    most: int  # maximum bytes
    sha256: str = ""  # empty: unknown; the first download's is recorded, later ones must match it


@dataclass(frozen=True)
class Corpus:
    """A corpus that anyone can get."""

    name: str
    about: str
    files: tuple[File, ...]
    load: Callable[[Corpus, list[Path], Path, bool, Tell], Index]
    exclude: tuple[str, ...] = ()  # pages that only the whole corpus includes

    def as_dict(self) -> dict[str, Any]:
        return {"name": self.name, "about": self.about, "files": [file.url for file in self.files]}


def fetch(
    name: str,
    out: Path,
    options: Options,
    *,
    keep: Path | None = None,
    mirror: str = "",
    whole: bool = False,
    tell: Tell = silent,
) -> Index:
    """Download a corpus, unless it is there, and make its index. `mirror` is where else its files are."""
    corpus = CORPORA.get(name)
    if corpus is None:
        raise InputError(f"there is no public corpus {name!r} here: there are {', '.join(CORPORA)}")
    with unfinished(Path(out)) as beside:  # a place that can't be written is better known before the download
        beside.rmdir()
    into = keep or cache_directory() / "corpora" / name
    files = []
    for file in corpus.files:
        base = file.url.rpartition("/")[2]
        url = f"{mirror.rstrip('/')}/{base}" if mirror else file.url
        if canonical(url) is None:
            raise InputError(f"{mirror!r} is not a web address: write it like https://example.org/corpora/")
        said = lambda done, total, base=base: tell(f"fetching {base}", done, total)  # noqa: E731
        files.append(download(url, into, options, most=file.most, sha256=file.sha256, tell=said))
    return corpus.load(corpus, files, Path(out), whole, tell)


# -- reading archives ------------------------------------------------------------------------------------------------


def members(path: Path) -> Iterator[tuple[PurePosixPath, Callable[[], bytes]]]:
    """The plain files of a packed tar archive: their paths, and a way to read the beginning of each."""
    try:
        with unpacked(path) as stream:
            for name, content in plain_files(stream, MAX_UNPACKED_BYTES, MAX_MEMBERS):
                yield name, partial(content.read, INFLATED)
    except BadArchive as error:
        raise InputError(f"{path} {str(error).removeprefix('it ')}: it is not what it should be") from error
    except DAMAGE as error:
        raise InputError(f"cannot read {path} as an archive: {error or type(error).__name__}") from error


# -- Wikispeedia -----------------------------------------------------------------------------------------------------


def _wikispeedia(corpus: Corpus, files: list[Path], out: Path, whole: bool, tell: Tell) -> Index:
    account = Account()
    classes = _categories(files[0])
    keep = choosing(() if whole else corpus.exclude, account)
    pages = _articles(files[1], classes, account, keep, blind=not whole)
    return write_index(pages, out, source=corpus.name, account=account, tell=tell)


def _categories(path: Path) -> dict[str, list[str]]:
    """Categories of articles: lines of an article's name, a tab, and subject.A.B."""
    classes: dict[str, list[str]] = {}
    for name, read in members(path):
        if name.name == "categories.tsv":
            for line in read().split(b"\n"):
                article, tab, category = line.decode("utf-8", "replace").rstrip("\r").partition("\t")
                label = path_of(category.removeprefix("subject.").replace(".", "/"))
                if tab and label and not article.startswith("#"):
                    classes.setdefault(article, []).append(label)
    if not classes:
        raise InputError(f"{path} has no categories of articles (categories.tsv): it is not what it should be")
    return classes


def _articles(
    path: Path, classes: dict[str, list[str]], account: Account, keep: Keep, blind: bool
) -> Iterator[Recorded]:
    """Pages below wpcd/; articles are known by the names of their files. Blind: none prints its own categories."""
    known = set()
    for name, read in members(path):
        parts = name.parts[name.parts.index("wpcd") + 1 :] if "wpcd" in name.parts else ()
        if not parts or name.suffix.lower() not in (".htm", ".html"):
            account.left_out["neither HTML nor text"] += 1
            continue
        url = canonical("http://wikispeedia.test/" + quote("/".join(parts).encode("utf-8", "surrogateescape")))
        if url is None or not keep(url):
            continue
        account.read += 1
        own = classes.get(name.stem, ())
        if own:
            known.add(name.stem)
        html = _SUBJECTS.sub(b"", read(), count=1) if blind else read()
        yield Recorded(url, page_of(extract(html, url)), classes=own)
    if len(known) < len(classes):
        account.left_out["articles with categories, but no page"] += len(classes) - len(known)


# -- WebKB -----------------------------------------------------------------------------------------------------------


def _webkb(corpus: Corpus, files: list[Path], out: Path, whole: bool, tell: Tell) -> Index:
    account = Account()
    return write_index(_departments(files[0], account), out, source=corpus.name, account=account, tell=tell)


def _departments(path: Path, account: Account) -> Iterator[Recorded]:
    """Pages in class/university/address, with ^ for each slash of the address; HTTP headers come first."""
    for name, read in members(path):
        if len(name.parts) < 3 or not name.name.startswith(("http:^^", "https:^^")):
            account.left_out["files that are no pages"] += 1
            continue
        url = canonical(name.name.replace("^", "/"))
        if url is None:
            account.left_out["with an address that no crawl would follow"] += 1
            continue
        account.read += 1
        yield Recorded(url, page_of(extract(_without_headers(read()), url)), classes=(name.parts[-3],))


def _without_headers(content: bytes) -> bytes:
    """A page without the headers that the server sent before it.

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


# -- SNAP ------------------------------------------------------------------------------------------------------------


def _snap(corpus: Corpus, files: list[Path], out: Path, whole: bool, tell: Tell) -> Index:
    return write_graph(files[0], None, out, corpus.name, tell)


_SNAP = "https://snap.stanford.edu/data/"

CORPORA = {
    corpus.name: corpus
    for corpus in (
        Corpus(
            "wikispeedia",
            "Wikipedia for Schools, 2007: 4,604 articles with categories (West and Leskovec 2012; text under the GFDL)",
            (
                File(f"{_SNAP}wikispeedia/wikispeedia_paths-and-graph.tar.gz", 100_000_000),
                File(f"{_SNAP}wikispeedia/wikispeedia_articles_html.tar.gz", 1_000_000_000),
            ),
            _wikispeedia,
            ("/wp/index/",),
        ),
        Corpus(
            "webkb",
            "Computer science departments, 1997: 8,000 pages in seven classes (CMU World Wide Knowledge Base)",
            (File("http://www.cs.cmu.edu/afs/cs.cmu.edu/project/theo-20/www/data/webkb-data.gtar.gz", 200_000_000),),
            _webkb,
        ),
        *(
            Corpus(f"web-{name.lower()}", about, (File(f"{_SNAP}web-{name}.txt.gz", 300_000_000),), _snap)
            for name, about in (
                ("Google", "Links between pages, Google 2002: a graph without scores (SNAP)"),
                ("Stanford", "Links between pages of stanford.edu, 2002: a graph without scores (SNAP)"),
                ("BerkStan", "Links between pages of berkeley.edu and stanford.edu, 2002: without scores (SNAP)"),
                ("NotreDame", "Links between pages of nd.edu, 1999: a graph without scores (SNAP)"),
            )
        ),
    )
}


# -- one large file ----------------------------------------------------------------------------------------

# One large file from the web: guarded, capped, continued where it broke off, held against a checksum.
#
# A checksum that is known is in the table of corpora. Where none is known, that of the first download is written down
# beside the file, and every later one has to agree with it: this notices damage and change, but it can't tell whether
# the first download was what its makers meant.

ATTEMPTS = 4  # the next run continues the download

Told = Callable[[int, int], None]  # bytes received, bytes in all (0: unknown)


def download(
    url: str, into: Path, options: Options, *, most: int, sha256: str = "", tell: Told = lambda done, total: None
) -> Path:
    """The file of an address in a directory; from there if it is there and as it should be."""
    file = into / Path(URL(url).path).name
    try:
        into.mkdir(parents=True, exist_ok=True)
        if file.is_file():
            _verify(file, file, url, sha256)
            return file
        part = file.with_name(f"{file.name}.part")
        asyncio.run(_Transfer(url, part, options, most, tell).run())
        _verify(part, file, url, sha256)
        part.replace(file)
        _state_of(part).unlink(missing_ok=True)
        return file
    except OSError as error:
        raise StoreError(
            f"cannot keep {url} in {into}: {error.strerror or error}; name another place with --keep"
        ) from error


def recorded_checksum(file: Path) -> Path:
    return file.with_name(f"{file.name}.sha256")


def _verify(whole: Path, file: Path, url: str, known: str) -> None:
    """Hold a file against its checksum; write it down if there is none yet."""
    with open(whole, "rb") as opened:
        actual = hashlib.file_digest(opened, "sha256").hexdigest()
    beside = recorded_checksum(file)
    written_down = beside.read_text(encoding="ascii", errors="replace").split() if beside.is_file() else []
    expected = known or "".join(written_down[:1])
    if not expected:
        with replacing(beside) as written:
            written.write(f"{actual}  {file.name}\n".encode())
    elif actual != expected:
        whose = "it should be" if known else f"the first download had, according to {beside}"
        if whole != file:
            whole.unlink()
            _state_of(whole).unlink(missing_ok=True)
        raise InputError(
            f"{whole if whole == file else url} has the SHA-256 {actual}, and not the one that {whose} ({expected}): "
            "it is damaged, or was changed. "
            + (f"Remove {file}, and fetch it again" if whole == file else "Try again")
            + ("" if known else f"; if you trust it, remove {beside}, too")
        )


def _state_of(part: Path) -> Path:
    return part.with_name(f"{part.name}.json")


class _Cut(Exception):
    """The connection ended before the file did."""


class _Transfer:
    """One file, over as many connections as it takes."""

    def __init__(self, url: str, part: Path, options: Options, most: int, tell: Told) -> None:
        self.url, self.part, self.options, self.most, self.tell = url, part, options, most, tell

    async def run(self) -> None:
        guard, names = guard_of(self.options), Names(wall_clock())
        connector = aiohttp.TCPConnector(
            resolver=Resolver(names), use_dns_cache=False, socket_factory=guard.socket_factory
        )
        session = aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            trust_env=False,
            headers={"User-Agent": user_agent(self.options), "Accept": "*/*", "Accept-Encoding": "identity"},
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=30.0, sock_read=30.0),
        )
        why = ""
        try:
            async with session:
                for _ in range(ATTEMPTS):
                    try:
                        await self._once(session)
                        return
                    except _Cut as error:
                        why = str(error)
        except aiohttp.ClientConnectorError as error:
            if is_refusal(error):
                raise InputError(f"cannot fetch {self.url}: {error.os_error.strerror or error}") from error
            raise InputError(f"cannot fetch {self.url}: {error}") from error
        except (aiohttp.ClientError, TimeoutError, ValueError) as error:
            raise InputError(f"cannot fetch {self.url}: {type(error).__name__}: {error}"[:500]) from error
        finally:
            await names.close()
        raise InputError(
            f"{self.url} broke off {ATTEMPTS} times ({why}): run the command again, it goes on where it stopped"
        )

    async def _once(self, session: aiohttp.ClientSession) -> None:
        """One connection: from the start, or from where the last one ended if the server still has the same file."""
        have, seal = self._had()
        asked = {"Range": f"bytes={have}-", "If-Range": seal} if have else {}
        url = canonical(self.url) or self.url
        for _ in range(6):  # five redirects
            async with session.get(URL(url, encoded=True), headers=asked, allow_redirects=False) as answer:
                if answer.status in (301, 302, 303, 307, 308):
                    target = resolve(url, [answer.headers.get("Location", "")])[0]
                    if target is None:
                        raise InputError(f"cannot fetch {self.url}: {url} leads on to nowhere")
                    url = target
                    continue
                if answer.status == 416 and have:  # what is there is not what the server has: start over
                    self._forget()
                    raise _Cut("the server has another file by now")
                if answer.status not in (200, 206):
                    raise InputError(f"cannot fetch {self.url}: {url} answered {answer.status} {answer.reason or ''}")
                await self._write(answer, have)
                return
        raise InputError(f"cannot fetch {self.url}: it redirects without end")

    async def _write(self, answer: aiohttp.ClientResponse, have: int) -> None:
        part = answer.headers.get("Content-Range", "").replace(" ", "")
        begin = have if answer.status == 206 and part.startswith(f"bytes{have}-") else 0
        if answer.status == 206 and not begin:
            self._forget()
            raise _Cut("the server sent another part than was asked for")
        total = begin + (answer.content_length or 0) if answer.content_length is not None else 0
        if total > self.most:
            raise InputError(
                f"{self.url} has {total:,} bytes; {self.most:,} are the most that are taken for this corpus"
            )
        seal = answer.headers.get("ETag", "")
        seal = answer.headers.get("Last-Modified", "") if seal.startswith("W/") or not seal else seal
        _state_of(self.part).write_text(json.dumps({"url": self.url, "seal": seal}), encoding="utf-8")
        size = begin
        with open(self.part, "r+b" if begin else "wb") as file:
            file.seek(begin)
            try:
                async for chunk in answer.content.iter_chunked(1 << 16):
                    size += len(chunk)
                    if size > self.most:
                        raise InputError(f"{self.url} has more than {self.most:,} bytes, the most that are taken")
                    file.write(chunk)
                    self.tell(size, total)
            except (aiohttp.ClientPayloadError, aiohttp.ClientConnectionError, TimeoutError) as error:
                raise _Cut(f"after {size:,} of {total:,} bytes" if total else f"after {size:,} bytes") from error
            finally:
                file.truncate()
                file.flush()
                sync(file.fileno())
        if total and size < total:
            raise _Cut(f"after {size:,} of {total:,} bytes")

    def _had(self) -> tuple[int, str]:
        """Bytes of an earlier attempt, and what the server called that file; none if it did not name it."""
        try:
            state = json.loads(_state_of(self.part).read_bytes())
            size = self.part.stat().st_size
            if isinstance(state, dict) and state.get("url") == self.url and state.get("seal"):
                return size, str(state["seal"])
        except (OSError, ValueError):
            pass
        return 0, ""

    def _forget(self) -> None:
        self.part.unlink(missing_ok=True)
        _state_of(self.part).unlink(missing_ok=True)
