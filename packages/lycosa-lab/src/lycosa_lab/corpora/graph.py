"""A graph corpus from tables of nodes, links and scores: TSV, plain or gzip."""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lycosa.core.errors import InputError
from lycosa.core.progress import ProgressCallback, no_progress
from lycosa.training.sources import open_unpacked
from lycosa_lab.corpus_index import CorpusIndex
from lycosa_lab.index_writer import save_index, unfinished_index

TABLES = (".tsv", ".txt", ".tsv.gz", ".txt.gz")

Floats = NDArray[np.float32]


def write_graph(
    edges: Path, scores: Path | None, out: Path, source: str, progress: ProgressCallback = no_progress
) -> CorpusIndex:
    """Write the index of a graph from a table of links (node, node, optional alpha) and one of scores (node, score).

    Lines that begin with # are comments. Self-links and repeated links are dropped and counted; the remaining links of
    a node keep their order. Nodes without a score have 0.
    """
    with unfinished_index(out) as unfinished:
        progress("reading links", 0, 0)
        ends, alpha = _table(edges, 2)
        if not len(ends[0]):
            raise InputError("empty-file", f"{edges} has no links: write {_WANTED[2]}, one link per line")
        scored, score = _table(scores, 1) if scores is not None else ([], None)
        (source_of, target, *known), names = _numbered([*ends, *scored])
        order = np.argsort(source_of, kind="stable")
        source_of, target = source_of[order], target[order]
        keep = np.zeros(len(target), np.bool_)
        keep[np.unique(source_of.astype(np.int64) * len(names) + target, return_index=True)[1]] = True
        to_itself = source_of == target
        repeated = int(np.count_nonzero(~keep & ~to_itself))
        keep &= ~to_itself
        start = np.concatenate([[0], np.cumsum(np.bincount(source_of[keep], minlength=len(names)))])
        columns: dict[str, NDArray[Any]] = {"child": target[keep], "child_start": start, "link_start": start}
        if alpha is not None:
            columns["alpha"] = alpha[order][keep]
        notes = []
        if score is not None:
            if len(np.unique(known[0])) < len(known[0]):
                raise InputError("duplicate", f"{scores} has several scores of one node: keep only one of them")
            columns["score"] = np.zeros(len(names), np.float32)
            columns["score"][known[0]] = score
            alone = columns["score"] != 0
            alone[source_of] = alone[target] = False
            if alone.any():
                notes.append(f"{int(alone.sum()):,} nodes with a score are in no link: no crawl can reach them")
        facts = {
            "source": source, "pages": len(names), "links": len(keep), "dead": 0,
            "to_itself": int(np.count_nonzero(to_itself)),
            "left_out": {"links that are there already": repeated} if repeated else {}, "notes": notes,
        }  # fmt: skip
        return save_index(unfinished, out, columns, names, [], facts)


_WANTED = {1: "a node, a tab, and its score", 2: "a node, a tab, and the node that it links to"}


def _table(path: Path, ends: int) -> tuple[list[Any], Floats | None]:
    """Read the first `ends` columns of a table as node names (Arrow text), and an optional number after them."""
    try:
        import pyarrow as pa  # type: ignore[import-untyped, unused-ignore]
        from pyarrow import compute, csv
    except ImportError as error:
        raise InputError("missing-package", "tables of links need pyarrow: pip install lycosa-lab") from error
    try:
        with open_unpacked(path) as file:
            first = next((line for line in file if line.strip() and not line.startswith(b"#")), b"\t")
        columns = [str(number) for number in range(first.count(b"\t") + 1)]
        parsing = csv.ParseOptions(
            delimiter="\t",
            quote_char=False,
            invalid_row_handler=lambda row: "skip" if row.text.startswith("#") else "error",
        )
        converting = csv.ConvertOptions(column_types=dict.fromkeys(columns, pa.string()))
        table: Any = csv.read_csv(path, csv.ReadOptions(column_names=columns), parsing, converting)
        table = table.filter(compute.invert(compute.starts_with(table.column(0), "#")))
        if not max(2, ends) <= table.num_columns <= ends + 1:
            raise ValueError(f"its rows have {table.num_columns} columns, not {max(2, ends)} to {ends + 1}")
        nodes = [column.cast(pa.string()) for column in table.columns[:ends]]
        if any(column.null_count or compute.any(compute.equal(column, "")).as_py() for column in nodes):
            raise ValueError("it has empty cells")
        value = None
        if table.num_columns > ends:
            value = table.column(ends).cast(pa.float32()).to_numpy()
            if not np.isfinite(value).all():
                raise ValueError("its last column has a value that is infinite or not a number")
    except (OSError, EOFError, zlib.error, ValueError, pa.ArrowException) as error:
        raise InputError("bad-file", f"cannot read {path} as rows of {_WANTED[ends]}: {error}") from error
    return nodes, value


def _numbered(columns: list[Any]) -> tuple[list[NDArray[np.int32]], list[str]]:
    import pyarrow as pa

    whole = pa.chunked_array([chunk for column in columns for chunk in column.chunks], pa.string())
    encoded = whole.combine_chunks().dictionary_encode()
    numbers = encoded.indices.to_numpy()
    return np.split(numbers, np.cumsum([len(column) for column in columns])[:-1]), encoded.dictionary.to_pylist()
