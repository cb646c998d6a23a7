"""`lycosa lab index`: index a corpus."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from lycosa.cli.parameters import Column, Json, Quiet
from lycosa.cli.printing import print_result
from lycosa.cli.progress_bar import show_progress
from lycosa_lab.corpora.loading import make_index
from lycosa_lab.corpus_statistics import corpus_statistics, statistics_lines


def index(
    sources: Annotated[
        list[str],
        "SOURCE",
        "WARC files or a directory of them, a crawl's directory, a directory of HTML files (directories are classes), "
        "a table of links (.tsv or .tsv.gz: node, node), embedded:pages=3000,seed=7, public:wikispeedia (or "
        "webkb), or generated:bretagne,nodes=20000.",
    ],
    *,
    out: Annotated[Path, "-o", "DIR", "Where to write the index."],
    labels: Annotated[
        Path | None, "FILE", "Classes of pages: on each line an address, a tab, and a class or its path."
    ] = None,
    column: Column = "",
    exclude: Annotated[
        list[str] | None, "PATTERN", "Leave out pages whose address contains this, or matches it with * and ?."
    ] = None,
    scores: Annotated[Path | None, "FILE", "Scores of a graph's nodes (.tsv: node, score)."] = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Index a corpus for fast simulated crawls.

    Prints the number of pages, links, dead links and topics, and how often a link leads to a page of the same topic.

    For example:  lycosa lab index my-crawl/ --labels classes.tsv --out my.index
    """
    with show_progress(quiet or json) as progress:
        corpus = make_index(
            sources, out, labels=labels, column=column, exclude=exclude or [], scores=scores, progress=progress
        )
    facts = corpus_statistics(corpus)
    lines = [*statistics_lines(facts), f"use it with: lycosa lab run --corpus {out}"]
    print_result({"index": out, **facts}, lines, json=json, quiet=quiet)
