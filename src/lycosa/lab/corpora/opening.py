"""From what a user names to an index: which kind of source it is, what is left out, which labels there are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from itertools import chain
from pathlib import Path

import xxhash

from lycosa.core.errors import InputError
from lycosa.core.spec import build, parse
from lycosa.core.telling import Tell, silent
from lycosa.lab.corpora.graph import PARQUET, TABLES, write_graph
from lycosa.lab.corpora.recorded import Keep, archive, crawl, embedded, tree
from lycosa.lab.index import FACTS, Index
from lycosa.lab.indexing import Account, Recorded, write_index
from lycosa.replay.places import ENDINGS
from lycosa.store.directory import CONFIG
from lycosa.training.sources import labelled

EMBEDDED = "embedded"

KINDS = (
    "a WARC file or a directory of them, a crawl's directory, a directory of HTML files, a table of links (.tsv, "
    ".parquet), or embedded:pages=3000,seed=7 for the embedded web"
)


def make_index(
    sources: Sequence[str],
    out: Path,
    *,
    labels: Path | None = None,
    column: str = "",
    exclude: Sequence[str] = (),
    scores: Path | None = None,
    tell: Tell = silent,
) -> Index:
    """Read some sources, whatever they are, into one index."""
    if not sources:
        raise InputError(f"there is nothing to read: name {KINDS}")
    kinds = [kind_of(source) for source in sources]
    title = ", ".join(
        source if kind == EMBEDDED else Path(source).name or source for source, kind in zip(sources, kinds, strict=True)
    )
    if "graph" in kinds:
        if len(sources) > 1:
            raise InputError(f"{sources[kinds.index('graph')]} is a graph: it must be the only source")
        if labels is not None or exclude:
            raise InputError(
                "--labels and --exclude are for pages: a graph has scores of its nodes, name them with --scores"
            )
        return write_graph(Path(sources[0]), scores, out, title, tell)
    if scores is not None:
        raise InputError("--scores are those of a graph's nodes: name a table of links (.tsv, .parquet) as the source")
    if column and labels is None:
        raise InputError("--column names a column of --labels: give both")
    account = Account()
    known = read_labels(labels, account, column) if labels is not None else None
    keep = choosing(exclude, account)
    pages = chain.from_iterable(
        _pages(source, kind, account, keep, known is not None, tell)
        for source, kind in zip(sources, kinds, strict=True)
    )
    return write_index(pages, out, source=title, labels=known, account=account, tell=tell)


def open_corpus(
    source: str, keep: Path, tell: Tell = silent, *, labels: str = "", exclude: Sequence[str] = ()
) -> Index:
    """The index in a directory; anything else that 'lycosa lab index' takes is indexed first, into `keep`.

    What was made from a file is made anew when the file has changed.
    """
    if (Path(source) / FACTS).is_file():
        return Index.open(source)
    files = [Path(name) for name in (source, labels) if name and Path(name).is_file()]
    state = [(name.name, name.stat().st_size, name.stat().st_mtime_ns) for name in files]
    key = xxhash.xxh3_64_hexdigest(repr((source if not files else "", state, labels != "", list(exclude))).encode())
    place = keep / f"{key}.index"
    if (place / FACTS).is_file():
        return Index.open(place)
    keep.mkdir(parents=True, exist_ok=True)
    return make_index([source], place, labels=Path(labels) if labels else None, exclude=list(exclude), tell=tell)


def read_labels(path: Path, account: Account, column: str = "") -> dict[str, list[str]]:
    """All classes of each address, in the order of the table; addresses are canonical, as those of pages are.

    A row a line, columns between tabs, the address in the first, the class (or its path in a taxonomy) in the second or
    in that which `column` names by title or number. Several rows may be of one address. What can't be used is counted.
    """
    classes_of: dict[str, list[str]] = {}
    own = Account()
    for url, label in labelled(path, own, column):
        classes = classes_of.setdefault(url, [])
        if label not in classes:
            classes.append(label)
    account.left_out.update({f"{reason} in the labels": count for reason, count in own.left_out.items()})
    account.notes += own.notes
    return classes_of


def kind_of(source: str) -> str:
    path = Path(source)
    if source.partition(":")[0] == EMBEDDED and not path.exists():
        return EMBEDDED
    if not source or not path.exists():
        raise InputError(f"there is no {source or repr(source)}: name {KINDS}")
    if path.is_dir():
        return _kind_of_directory(path)
    if not path.is_file():
        raise InputError(f"{path} is a pipe or a device: save it as a file first")
    if path.name.endswith((*TABLES, PARQUET)):
        return "graph"
    if path.name.endswith((*ENDINGS, ".gz")):
        return "archive"
    raise InputError(f"what {path} is, its name does not tell: name {KINDS}")


def _kind_of_directory(path: Path) -> str:
    if (path / FACTS).is_file():
        raise InputError(f"{path} is an index already: use it with 'lycosa lab run --corpus {path}'")
    if (path / CONFIG).is_file():
        return "crawl"
    try:
        held = any(entry.name.endswith(ENDINGS) for entry in path.iterdir())
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error
    return "archive" if held else "tree"


def choosing(exclude: Sequence[str], account: Account) -> Keep:
    """Whether a page is wanted: not if its address has one of these in it, or matches one that has * or ? in it."""
    if "" in exclude:
        raise InputError("--exclude '' would leave out every page: give a part of an address")

    def keep(url: str) -> bool:
        for pattern in exclude:
            if fnmatchcase(url, pattern) if "*" in pattern or "?" in pattern else pattern in url:
                account.left_out[f"excluded by {pattern!r}"] += 1
                return False
        return True

    return keep


def _pages(source: str, kind: str, account: Account, keep: Keep, table: bool, tell: Tell) -> Iterator[Recorded]:
    path = Path(source)
    if kind == EMBEDDED:
        name, given = parse(source.replace(":", ",", 1))
        if "seed" in given:
            given["random_seed"] = given.pop("seed")
        return (recorded for recorded in build(embedded, given, name) if keep(recorded.url))
    if kind == "crawl":
        return crawl(path, account, keep, labelled=table)
    if kind == "archive":
        return archive([path], account, keep, tell)
    return tree(path, account, keep)
