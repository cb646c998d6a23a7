"""Public corpora: where they are, and how each becomes an index.

Archives are read member by member and never unpacked: no name in them becomes a path, links and devices are passed
over, and what they hold has a limit.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote

from lycosa.collection.reading import INFLATED
from lycosa.core.errors import InputError
from lycosa.core.options import Options
from lycosa.core.telling import Tell, silent
from lycosa.lab.corpora.download import download
from lycosa.lab.corpora.graph import write_graph
from lycosa.lab.corpora.opening import choosing
from lycosa.lab.corpora.recorded import Keep
from lycosa.lab.index import Index
from lycosa.lab.indexing import Account, Recorded, unfinished, write_index
from lycosa.replay.places import cache_directory
from lycosa.store.unpacking import DAMAGE, BadArchive, plain_files
from lycosa.topics.taxonomy import path_of
from lycosa.training.sources import page_of, unpacked
from lycosa.web.html import extract
from lycosa.web.urls import canonical

MOST_UNPACKED = 4_000_000_000
MOST_MEMBERS = 1_000_000

WIKISPEEDIA = "http://wikispeedia.test/"
_SUBJECTS = re.compile(rb'<h3 id="siteSub">.*?</h3>', re.DOTALL)
"""The line under an article's title that names the article's own categories."""
"""Where its pages are taken to be: they were made to be read from a disc, and have no addresses."""


@dataclass(frozen=True)
class File:
    url: str
    most: int
    """Bytes that are taken at most."""
    sha256: str = ""
    """Empty: not known to us; the first download's is written down, and later ones are held against it."""


@dataclass(frozen=True)
class Corpus:
    """A corpus that anyone can get."""

    name: str
    about: str
    files: tuple[File, ...]
    load: Callable[[Corpus, list[Path], Path, bool, Tell], Index]
    exclude: tuple[str, ...] = ()
    """Pages that are left out unless the whole is asked for."""

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
            for name, content in plain_files(stream, MOST_UNPACKED, MOST_MEMBERS):
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
        url = canonical(WIKISPEEDIA + quote("/".join(parts).encode("utf-8", "surrogateescape")))
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
