"""A graph of nodes, links and scores as a corpus, from tables: TSV (plain or gzip) or Parquet.

Nodes are numbers or names. Numbers are read by blocks into arrays, so that 78 million links take 8 bytes each and a
few hundred megabytes on top; names need a dictionary, some 150 bytes a node. Links keep the order of the file.
"""

from __future__ import annotations

import io
import zlib
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lycosa.core.errors import InputError
from lycosa.core.telling import Tell
from lycosa.lab.index import Index
from lycosa.lab.indexing import save_index, unfinished
from lycosa.training.sources import unpacked

TABLES = (".tsv", ".txt", ".tsv.gz", ".txt.gz")
PARQUET = ".parquet"

BLOCK = 1 << 24  # bytes of a table read at once
AT_ONCE = 1 << 22  # links compared at once to find duplicates

Numbers = NDArray[np.int64]


def write_graph(edges: Path, scores: Path | None, out: Path, source: str, tell: Tell = lambda *_: None) -> Index:
    """The index of a graph: links (node, node, perhaps alpha) in one table, scores (node, score) in another.

    Lines that begin with # and empty ones are passed over. Links of a node to itself and repeated ones are left out,
    and counted. Nodes without a score have 0.
    """
    out = Path(out)
    with unfinished(out) as beside:
        read = _numbered(edges, scores, tell)
        columns, links = _linked(read, tell)
        if read.score is not None:
            columns["score"] = read.score
        repeated = links.pop("repeated")
        left_out = {"links that are there already": repeated} if repeated else {}
        notes = [f"nodes with a score that no link names, so that no crawl gets there: {read.alone:,}"] * (
            read.alone > 0
        )
        facts = {"source": source, "pages": read.nodes, **links, "dead": 0, "left_out": left_out, "notes": notes}
        return save_index(beside, out, columns, read.names, [], facts)


@dataclass
class _Graph:
    """Ends of links as nodes, and what is known of nodes."""

    nodes: int
    source: NDArray[np.int32]
    target: NDArray[np.int32]
    alpha: NDArray[np.float32] | None
    score: NDArray[np.float32] | None
    names: Iterable[str]

    @property
    def alone(self) -> int:
        """Nodes with a score that no link names: written another way in one of the tables, perhaps."""
        if self.score is None:
            return 0
        alone = self.score != 0
        alone[self.source] = alone[self.target] = False
        return int(np.count_nonzero(alone))


@dataclass
class _Columns:
    """Columns of one table, piece by piece."""

    nodes: list[list[NDArray[Any]]] = field(default_factory=lambda: [[], []])
    values: list[NDArray[np.float32]] = field(default_factory=list)

    def whole(self, place: int) -> NDArray[Any]:
        """One of them in one piece, of 4 or 8 bytes an entry."""
        joined = np.concatenate([np.zeros(0, np.int32), *self.nodes[place]])
        self.nodes[place] = []
        return joined


Names = dict[str, int]  # numbers of nodes by name; empty while all names are numbers


def _numbers_of(names: Iterable[str], number: Names) -> Numbers:
    return np.fromiter((number.setdefault(name, len(number)) for name in names), np.int64)


def _numbered(edges: Path, scores: Path | None, tell: Tell) -> _Graph:
    """Read the tables as numbers; where a name is none, read both again as names."""
    for names in (None, Names()):
        try:
            links = _table(edges, 2, names, "links", tell)
            scored = _table(scores, 1, names, "scores", tell) if scores is not None else None
        except _NotNumbers:
            continue
        break
    source, target = links.whole(0), links.whole(1)
    if not len(source):
        raise InputError(f"{edges} has no links: write a node, a tab, and the node that it links to, one link per line")
    known = scored.whole(0) if scored is not None else np.zeros(0, np.int32)
    nodes, labels = _compact([source, target, known]) if names is None else (len(names), list(names))
    if nodes > np.iinfo(np.int32).max:
        raise InputError(f"{edges} has {nodes:,} nodes: {np.iinfo(np.int32).max:,} are the most that an index can hold")
    score = None
    if scored is not None:
        score = np.zeros(nodes, np.float32)
        score[known] = np.concatenate([np.zeros(0, np.float32), *scored.values])
        if len(np.unique(known)) < len(known):
            raise InputError(f"{scores} has several scores of one node: keep one of them")
    alpha = np.concatenate(links.values) if links.values else None
    if alpha is not None and len(alpha) != len(source):
        raise InputError(f"{edges}: some links have an alpha and others have none: give all of them one, or none")
    return _Graph(nodes, source.astype(np.int32, copy=False), target.astype(np.int32, copy=False), alpha, score, labels)


def _compact(columns: Sequence[NDArray[Any]]) -> tuple[int, Iterable[str]]:
    """Number the nodes 0, 1, 2 ... in the order of the numbers that they have as names, in place.

    Without names if they are those numbers already.
    """
    largest = max(int(column.max()) for column in columns if len(column))
    total = sum(map(len, columns))
    if largest < max(4 * total, 1 << 20):
        met = np.zeros(largest + 1, np.bool_)
        for column in columns:
            met[column] = True
        known: NDArray[Any] = np.flatnonzero(met)
        if len(known) == largest + 1:
            return len(known), ()
        place = np.cumsum(met, dtype=np.int64) - 1
        for column in columns:
            column[:] = place[column]
    else:
        known = np.unique(np.concatenate(columns))
        for column in columns:
            column[:] = known.searchsorted(column)
    return len(known), (str(number) for number in known)


def _linked(read: _Graph, tell: Tell) -> tuple[dict[str, NDArray[Any]], dict[str, int]]:
    """Links by their source, each once and none to itself; those of one node in the order of the file."""
    source, target, alpha = read.source, read.target, read.alpha
    if (source[1:] < source[:-1]).any():
        order = np.argsort(source, kind="stable")
        source, target = source[order], target[order]
        alpha = alpha[order] if alpha is not None else None
        del order
    start = np.searchsorted(source, np.arange(read.nodes + 1, dtype=np.int32)).astype(np.int64)
    keep = source != target
    to_itself = len(keep) - int(np.count_nonzero(keep))
    begin = 0
    while begin < len(source):
        # Whole nodes only: of one node, all links are compared with each other.
        end = min(begin + AT_ONCE, len(source))
        end = int(start[source[end - 1] + 1])
        key = source[begin:end].astype(np.int64) * read.nodes + target[begin:end]
        order = np.argsort(key, kind="stable")
        again = order[1:][key[order[1:]] == key[order[:-1]]]
        keep[begin:end][again] = False
        begin = end
        tell("sorting links", begin, len(source))
    kept = int(np.count_nonzero(keep))
    columns: dict[str, NDArray[Any]] = {"child": target[keep]}
    if alpha is not None:
        columns["alpha"] = alpha[keep]
    before = np.concatenate([[0], np.cumsum(keep, dtype=np.int64)])
    columns["child_start"] = columns["link_start"] = before[start]
    repeated = len(source) - kept - to_itself
    return columns, {"links": len(source), "to_itself": to_itself, "repeated": repeated}


# -- tables --------------------------------------------------------------------------------------------------------


class _NotNumbers(Exception):
    """A node has a name that is no number."""


def _table(path: Path, ends: int, names: Names | None, what: str, tell: Tell) -> _Columns:
    """Nodes in the first columns of a table, a number in the one behind."""
    columns = _Columns()
    read = 0
    blocks = _parquet(path, ends, names) if path.name.endswith(PARQUET) else _blocks(path, ends, names)
    for nodes, values in blocks:
        for place, column in enumerate(nodes):
            if names is None and len(column) and int(column.min()) < 0:
                raise _NotNumbers
            columns.nodes[place].append(_small(column))
        if values is not None:
            if not (np.abs(values) <= np.finfo(np.float32).max).all():
                raise InputError(f"{path}: a number of its last column is none, infinite, or too large")
            columns.values.append(values.astype(np.float32))
        read += len(nodes[0])
        tell(f"reading {what}", read, 0)
    if ends == 1 and not columns.values:
        raise InputError(f"{path} has no scores: write a node, a tab, and its score, one per line")
    return columns


def _small(column: Numbers) -> Any:
    """In 4 bytes where they fit, until all are there."""
    return column.astype(np.int32) if len(column) and int(column.max()) <= np.iinfo(np.int32).max else column


Piece = tuple[list[Numbers], "NDArray[np.float64] | None"]


def _blocks(path: Path, ends: int, names: Names | None) -> Iterator[Piece]:
    """A text table, block by block. Lines end at the byte, whatever separators names contain."""
    if not path.is_file():
        raise InputError(f"cannot read {path}: it is not a file")
    try:
        with unpacked(path) as file:
            rest, first = b"", True
            while block := file.read(BLOCK):
                block = rest + block
                if first:
                    block, first = block.removeprefix(b"\xef\xbb\xbf"), False
                whole = block.rfind(b"\n") + 1
                block, rest = block[:whole], block[whole:]
                if len(rest) > BLOCK:
                    raise InputError(f"{path} has a line of more than {BLOCK:,} bytes: is it a table?")
                if block:
                    yield _rows(block, path, ends, names)
            if rest:
                yield _rows(rest, path, ends, names)
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from error


def _rows(block: bytes, path: Path, ends: int, names: Names | None) -> Piece:
    if block.startswith(b"#") or b"\n#" in block:
        block = b"\n".join(line for line in block.split(b"\n") if not line.startswith(b"#"))
    return _as_numbers(block, path, ends) if names is None else _as_names(block, path, ends, names)


def _as_numbers(block: bytes, path: Path, ends: int) -> Piece:
    first = next((line for line in block[:4096].split(b"\n") if line.strip()), b"")
    if not first:
        return [np.zeros(0, np.int64)] * ends, None
    wide = first.count(b"\t") + 1
    if not 2 <= wide <= ends + 1:
        raise InputError(f"{path}: {_shown(first)} is not {_wanted(ends)}")
    kind = np.float64 if wide > ends else np.int64
    try:  # a name anywhere, and all are names
        table: NDArray[Any] = np.loadtxt(
            io.StringIO(block.decode("latin-1")), kind, delimiter="\t", comments=None, ndmin=2
        )
    except (ValueError, OverflowError) as error:
        if "number of columns" in str(error):
            raise InputError(
                f"{path}: its lines differ in the number of columns: each must be {_wanted(ends)}"
            ) from None
        raise _NotNumbers from None
    nodes = table[:, :ends]
    if wide > ends:
        if (nodes != np.floor(nodes)).any() or (nodes > 2**53).any():
            raise _NotNumbers
        return [nodes[:, place].astype(np.int64) for place in range(ends)], table[:, ends].copy()
    return [nodes[:, place].copy() for place in range(ends)], None


def _as_names(block: bytes, path: Path, ends: int, names: Names) -> Piece:
    ids: list[list[str]] = [[] for _ in range(ends)]
    values = array("d")
    for line in block.split(b"\n"):
        line = line.rstrip(b"\r")
        if not line:
            continue
        parts = line.split(b"\t")
        if not 2 <= len(parts) <= ends + 1 or b"" in parts:
            raise InputError(f"{path}: {_shown(line)} is not {_wanted(ends)}")
        for place in range(ends):
            ids[place].append(parts[place].decode("utf-8", "replace"))
        if len(parts) > ends:
            try:
                values.append(float(parts[ends]))
            except ValueError as error:
                raise InputError(f"{path}: {_shown(line)} does not end in a number") from error
    # Row by row, so that nodes are numbered in the order in which they are met.
    flat = _numbers_of((name for row in zip(*ids, strict=True) for name in row), names).reshape(-1, ends)
    if values and len(values) != len(flat):
        raise InputError(f"{path}: some lines end in a number and others do not: each must be {_wanted(ends)}")
    return [flat[:, place].copy() for place in range(ends)], np.array(values) if values else None


def _wanted(ends: int) -> str:
    return "a node, a tab, and its score" if ends == 1 else "a node, a tab, and the node that it links to"


def _shown(line: bytes) -> str:
    return repr(line[:80].decode("utf-8", "replace"))


def _parquet(path: Path, ends: int, names: Names | None) -> Iterator[Piece]:
    """The first columns of a Parquet file, batch by batch."""
    try:
        import pyarrow as pa  # type: ignore[import-untyped, unused-ignore]
        import pyarrow.parquet as pq  # type: ignore[import-untyped, unused-ignore]
    except ImportError as error:
        raise InputError(f"Parquet needs pyarrow: pip install 'lycosa[lab]', or give {path} as TSV") from error
    try:
        file: Any = pq.ParquetFile(path)
        columns = file.schema_arrow.names[: ends + 1]
        if len(columns) < ends:
            raise InputError(f"{path} has {len(columns)} columns: each row must be {_wanted(ends)}")
        for batch in file.iter_batches(1 << 20, columns=columns):
            if any(batch.column(place).null_count for place in range(len(columns))):
                raise InputError(f"{path} has empty cells in {', '.join(columns)}: fill or remove them")
            given = [batch.column(place) for place in range(ends)]
            if names is None:
                if not all(pa.types.is_integer(column.type) for column in given):
                    raise _NotNumbers
                nodes = [column.to_numpy(zero_copy_only=False).astype(np.int64) for column in given]
            else:
                rows = zip(*(map(str, column.to_pylist()) for column in given), strict=True)
                flat = _numbers_of((name for row in rows for name in row), names).reshape(-1, ends)
                nodes = [flat[:, place].copy() for place in range(ends)]
            values = None
            if len(columns) > ends:
                values = batch.column(ends).to_numpy(zero_copy_only=False).astype(np.float64)
            yield nodes, values
    except (OSError, pa.ArrowException, ValueError, TypeError) as error:
        raise InputError(f"cannot read {path} as Parquet with {_wanted(ends)} a row: {error}") from error
