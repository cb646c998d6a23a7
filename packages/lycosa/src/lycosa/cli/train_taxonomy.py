"""`lycosa train taxonomy`: browse a web directory, mark topics, and write a training table."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from rich.table import Column

from lycosa.cli.parameters import Json, Limit, Quiet
from lycosa.cli.printing import Part, listing, print_result, remarks, right_aligned
from lycosa.cli.progress_bar import show_progress
from lycosa.core.errors import InputError
from lycosa.training.train_model import check_out
from lycosa.training.web_directory import COLUMNS, TopicBranch, WebDirectory, read_web_directory


def taxonomy(
    sources: Annotated[
        list[Path],
        "FILE",
        "A web directory: content.rdf.u8 and structure.rdf.u8, or tables of URLs and topics, "
        "gzipped or not; or a table written by this command.",
    ],
    *,
    branch: Annotated[str, "-b", "TOPIC", "Show or write only what is below this topic."] = "",
    mark: Annotated[
        list[str] | None, "TOPIC", "Mark a topic, with everything below it, as wanted; repeatable, '' for none."
    ] = None,
    out: Annotated[Path | None, "-o", "FILE", "Write a table to this file, for 'lycosa train FILE'."] = None,
    most: Annotated[int, "Maximum number of pages per topic, chosen at random; 0 for all."] = 150,
    limit: Limit = 60,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Browse a web directory and select topics to train on."""
    if limit < 0:
        raise InputError("out-of-range", f"--limit is {limit}: it must be 0 (all) or more")
    if out is None and mark is not None:  # marks are stored in the table itself if this command wrote it
        if branch or len(sources) != 1:
            raise InputError("missing-option", "--mark with a branch or several files needs --out, the table to write")
        out, most = sources[0], 0  # marking must not drop pages
    if out:  # fails before a long read
        check_out(out, "\t".join(COLUMNS).encode(), "is not a table written by this command")
    with show_progress(quiet or json) as progress:
        directory = read_web_directory(sources, below=branch if out else "", most=most, progress=progress)
    if mark is not None:
        directory.mark(mark)
    if out:
        directory.write(out)
    facts = {
        "branch": directory.resolve(branch), "topics": directory.topics, "pages": directory.size,
        "children": [child._asdict() for child in directory.children(branch)], "marked": directory.marked,
        "left_out": directory.left_out,
    }  # fmt: skip
    print_result(facts, _parts(directory, branch, limit, sources, out), json=json, quiet=quiet)


def _parts(directory: WebDirectory, branch: str, limit: int, sources: list[Path], out: Path | None) -> Iterator[Part]:
    above = directory.resolve(branch)
    children = directory.children(branch)
    yield f"{above or 'All topics'}: {directory.branch(above).pages if above else directory.size:,} pages"
    if children:
        columns = [Column("topic", overflow="fold"), right_aligned("topics below"), right_aligned("pages"), Column("")]
        rows = [
            (child.name, f"{child.topics:,}" if child.topics else "", f"{child.pages:,}", _marked(directory, child))
            for child in children[: limit or None]
        ]
        yield listing(columns, rows, pad_edge=False)
        yield from [f"and {len(children) - limit:,} more: --limit 0 lists all"] if 0 < limit < len(children) else []
    else:
        yield from directory.pages.get(above, [])[: limit or None]
    yield from remarks(directory.left_out, ())
    if deeper := next((child for child in children if child.topics), None):
        yield f"Look deeper: lycosa train taxonomy {shlex.join(map(str, sources))} --branch {shlex.quote(deeper.path)}"
    if out is None:
        return
    name = shlex.quote(str(out))
    kept, topics = sum(map(len, directory.pages.values())), sum(map(bool, directory.pages.values()))
    yield f"{out}: {kept:,} pages of {topics:,} topics"
    if directory.marked:
        yield f"Marked: {', '.join(directory.marked)}"
    else:
        yield f"Mark what you want: lycosa train taxonomy {name} --mark TOPIC"
    yield f"Train with it: lycosa train {name}"


def _marked(directory: WebDirectory, child: TopicBranch) -> str:
    if child.marked:
        return "marked"
    return "some marked" if any(mark.startswith(f"{child.path}/") for mark in directory.marked) else ""
