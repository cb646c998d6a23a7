"""Building an index from the sources a user names, with exclusions and labels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from itertools import chain
from pathlib import Path

import xxhash

from lycosa.core.errors import InputError
from lycosa.core.progress import ProgressCallback, no_progress
from lycosa.core.spec import make_with, parse_spec
from lycosa.replay.places import ENDINGS
from lycosa.store.directory import CONFIG
from lycosa.training.corpus import Account
from lycosa.training.sources import labelled_rows
from lycosa_lab.corpora import public
from lycosa_lab.corpora.generated import generate
from lycosa_lab.corpora.graph import TABLES, write_graph
from lycosa_lab.corpora.recorded import UrlFilter, archive, crawl, embedded, tree
from lycosa_lab.corpus_index import FACTS, CorpusIndex
from lycosa_lab.index_writer import RecordedPage, write_index

MADE = ("embedded", "public", "generated")  # sources that are not files: KIND:NAME,key=value

KINDS = (
    "a WARC file or a directory of them, a crawl's directory, a directory of HTML files, a table of links (.tsv), "
    "embedded:pages=3000,seed=7, public:NAME, or generated:NAME,nodes=20000"
)


def make_index(
    sources: Sequence[str],
    out: Path,
    *,
    labels: Path | None = None,
    column: str = "",
    exclude: Sequence[str] = (),
    scores: Path | None = None,
    progress: ProgressCallback = no_progress,
) -> CorpusIndex:
    kinds = [kind_of(source) for source in sources]
    title = ", ".join(
        source if kind in MADE else Path(source).name for source, kind in zip(sources, kinds, strict=True)
    )
    if {"graph", "generated"} & set(kinds):
        if len(sources) > 1:
            raise InputError("conflicting-options", f"{title}: a graph must be the only source")
        if labels is not None or exclude:
            raise InputError("conflicting-options", "--labels and --exclude need pages; a graph has scores (--scores)")
        if kinds == ["generated"]:
            like, given = _typed(sources[0])
            return make_with(generate, given, sources[0], out=out, like=like, progress=progress)
        return write_graph(Path(sources[0]), scores, out, title, progress)
    if scores is not None:
        raise InputError("conflicting-options", "--scores needs a graph: give a table of links (.tsv) as the source")
    if column and labels is None:
        raise InputError("missing-option", "--column is a column of --labels: give both")
    account = Account()
    known = read_labels(labels, account, column) if labels is not None else None
    keep = url_filter(exclude, account)
    pages = chain.from_iterable(
        _pages(source, kind, account, keep, known is not None, progress)
        for source, kind in zip(sources, kinds, strict=True)
    )
    return write_index(pages, out, source=title, labels=known, account=account, progress=progress)


def open_corpus(
    source: str, keep: Path, progress: ProgressCallback = no_progress, *, labels: str = "", exclude: Sequence[str] = ()
) -> CorpusIndex:
    """Open an index; first index any other source into `keep`, again whenever its files have changed."""
    if (Path(source) / FACTS).is_file():
        return CorpusIndex.open(source)
    files = [Path(name) for name in (source, labels) if name and Path(name).is_file()]
    state = [(name.name, name.stat().st_size, name.stat().st_mtime_ns) for name in files]
    key = xxhash.xxh3_64_hexdigest(repr((source if not files else "", state, labels != "", list(exclude))).encode())
    place = keep / f"{key}.index"
    if (place / FACTS).is_file():
        return CorpusIndex.open(place)
    return make_index(
        [source], place, labels=Path(labels) if labels else None, exclude=list(exclude), progress=progress
    )


def read_labels(path: Path, account: Account, column: str = "") -> dict[str, list[str]]:
    """Return all classes of each canonical URL; `column` names the column of the classes by title or number."""
    classes_of: dict[str, list[str]] = {}
    own = Account()
    for url, label in labelled_rows(path, own, column):
        classes = classes_of.setdefault(url, [])
        if label not in classes:
            classes.append(label)
    account.left_out.update({f"{reason} in the labels": count for reason, count in own.left_out.items()})
    account.notes += own.notes
    return classes_of


def kind_of(source: str) -> str:
    """Return the kind of a source: archive, crawl, tree, graph, embedded, public or generated."""
    path, prefix = Path(source), source.partition(":")[0]
    if source and path.exists():
        if path.is_dir():
            return _kind_of_directory(path)
        if path.name.endswith(TABLES):
            return "graph"
        if path.name.endswith((*ENDINGS, ".gz")):
            return "archive"
        raise InputError("unknown-format", f"unknown kind of file {path}: give {KINDS}")
    if prefix not in MADE:
        raise InputError("missing-file", f"no such source: {source or repr(source)}; give {KINDS}")
    return prefix


def _kind_of_directory(path: Path) -> str:
    if (path / FACTS).is_file():
        raise InputError("not-a-corpus", f"{path} is an index already: use it with 'lycosa lab run --corpus {path}'")
    if (path / CONFIG).is_file():
        return "crawl"
    try:
        held = any(entry.name.endswith(ENDINGS) for entry in path.iterdir())
    except OSError as error:
        raise InputError("unreadable-file", f"cannot read {path}: {error.strerror}") from error
    return "archive" if held else "tree"


def url_filter(exclude: Sequence[str], account: Account) -> UrlFilter:
    """Return a filter that rejects and counts URLs that contain a pattern, or match it if it has * or ?."""
    if "" in exclude:
        raise InputError("bad-pattern", "--exclude '' would leave out every page: give a part of a URL")

    def keep(url: str) -> bool:
        for pattern in exclude:
            if fnmatchcase(url, pattern) if "*" in pattern or "?" in pattern else pattern in url:
                account.left_out[f"excluded by {pattern!r}"] += 1
                return False
        return True

    return keep


def _typed(source: str) -> tuple[str, dict[str, str]]:
    kind, _, rest = source.partition(":")
    name, given = parse_spec(rest if kind != "embedded" else f"{kind},{rest}" if rest else kind)
    if "seed" in given:
        given["random_seed"] = given.pop("seed")
    return name, given


def _pages(
    source: str, kind: str, account: Account, keep: UrlFilter, table: bool, progress: ProgressCallback
) -> Iterator[RecordedPage]:
    path = Path(source)
    if kind == "crawl":
        return crawl(path, account, keep, labelled=table)
    if kind == "archive":
        return archive([path], account, keep, progress)
    if kind == "tree":
        return tree(path, account, keep)
    name, given = _typed(source)
    if kind == "embedded":
        pages = make_with(embedded, given, source)
    else:
        pages = make_with(public.pages, given, source, name=name, account=account, progress=progress)
    return (recorded for recorded in pages if keep(recorded.url))
