"""`lycosa taxonomy`: browse a web directory, mark topics in it, and write it as a table that `lycosa train` reads."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Column

from lycosa.cli.parameters import Json, Quiet
from lycosa.cli.printing import listing, output, print_json, right, tell_more, tell_rest
from lycosa.cli.progress import progress
from lycosa.core.errors import InputError
from lycosa.training.pages import check_out
from lycosa.training.web_directory import COLUMNS, Branch, WebDirectory, read_web_directory

TITLES = "\t".join(COLUMNS).encode()


def taxonomy(
    sources: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE",
            help="A web directory: content.rdf.u8 and structure.rdf.u8, or tables of addresses and topics, "
            "gzipped or not; or a table written by this command.",
        ),
    ],
    branch: Annotated[
        str, typer.Option("--branch", "-b", metavar="TOPIC", help="Show or write only what is below this topic.")
    ] = "",
    mark: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TOPIC", help="Mark a topic, with everything below it, as wanted; repeatable, '' for none."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", help="Write a table to this file, for 'lycosa train FILE'."),
    ] = None,
    most: Annotated[int, typer.Option(help="Pages per topic to keep, chosen at random; 0 for all.")] = 150,
    limit: Annotated[int, typer.Option("--limit", "-n", help="Maximum number of lines; 0 for all.")] = 60,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Browse a web directory and select topics to train on."""
    if limit < 0:
        raise InputError(f"--limit is {limit}: it must be 0 (all) or more")
    if out is None and (out := _in_place(sources, branch, mark)):
        most = 0  # marks take no page away
    if out:
        check_out(out, TITLES, "is not a table written by this command")  # before minutes are spent on reading
    with progress(quiet or json) as tell:
        directory = read_web_directory(sources, below=branch if out else "", most=most, tell=tell)
    if mark is not None:
        directory.mark(mark)
    if out:
        directory.write(out)
    if json:
        print_json({
            "branch": directory.named(branch), "topics": directory.topics, "pages": directory.size,
            "children": [child._asdict() for child in directory.children(branch)], "marked": directory.marked,
            "left_out": directory.left_out,
        })  # fmt: skip
    elif not quiet:
        _show(directory, branch, limit, sources)
        if out:
            _written(directory, out)


def _in_place(sources: list[Path], branch: str, mark: list[str] | None) -> Path | None:
    """Marks are kept in the table itself, if it is one of this command's."""
    if mark is None:
        return None
    if branch or len(sources) != 1:
        raise InputError("--mark with a branch or several files needs --out, the table to write")
    check_out(sources[0], TITLES, "is not a table written by this command")
    return sources[0]


def _show(directory: WebDirectory, branch: str, limit: int, sources: list[Path]) -> None:
    console, above = output(), directory.named(branch)
    children = directory.children(branch)
    of = directory.branch(above).pages if above else directory.size
    console.print(f"{above or 'All topics'}: {of:,} pages", markup=False, highlight=False)
    if children:
        columns = [Column("topic", overflow="fold"), right("topics below"), right("pages"), Column("")]
        rows = [
            (child.name, f"{child.topics:,}" if child.topics else "", f"{child.pages:,}", _marked(directory, child))
            for child in children[: limit or None]
        ]
        console.print(listing(columns, rows, pad_edge=False))
        tell_more(len(children), limit)
    else:
        for url in directory.pages.get(above, [])[: limit or None]:
            print(url)
    tell_rest(directory.left_out, ())
    deeper = next((child for child in children if child.topics), None)
    if deeper:
        files = " ".join(shlex.quote(str(source)) for source in sources)
        print(f"Look deeper: lycosa taxonomy {files} --branch {shlex.quote(deeper.path)}")


def _marked(directory: WebDirectory, child: Branch) -> str:
    if child.marked:
        return "marked"
    return "some marked" if any(mark.startswith(f"{child.path}/") for mark in directory.marked) else ""


def _written(directory: WebDirectory, out: Path) -> None:
    kept = sum(map(len, directory.pages.values()))
    print(f"{out}: {kept:,} pages of {sum(map(bool, directory.pages.values())):,} topics")
    name = shlex.quote(str(out))
    if directory.marked:
        print(f"Marked: {', '.join(directory.marked)}")
    else:
        print(f"Mark what you want: lycosa taxonomy {name} --mark TOPIC")
    print(f"Train with it: lycosa train {name}")
