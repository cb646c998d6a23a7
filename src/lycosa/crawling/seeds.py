"""What a crawl starts from, as its options name it.

Paper items:
    gouriten-seed-set: `--seed`, `--seeds`. Test: test_crawling.py::test_seeds_of_another_space_come_from_files_as_well.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from lycosa.core.errors import InputError
from lycosa.core.options import Options
from lycosa.core.protocols import Space
from lycosa.core.spec import parse
from lycosa.core.types import Kind
from lycosa.spaces import SPACES
from lycosa.web.scope import Scope
from lycosa.web.sources.files import read_lines, read_seed_file
from lycosa.web.sources.source import Source
from lycosa.web.urls import check_seed, is_http


@dataclass
class Seeds:
    """Nodes to start from, each once, in order, and whether each is a page or a source of addresses."""

    nodes: dict[str, Kind] = field(default_factory=dict)
    sources: list[tuple[str, Source]] = field(default_factory=list)
    """Sitemaps and feeds that lie in files: what they name waits in the frontier instead."""

    outside: int = 0
    """How many lie out of scope, and are left out."""


def node_of(space: Space | None, text: str) -> str | None:
    """The node that a person means who types this; None if it can't be one. No space: the web, not made yet."""
    if space is None:
        return check_seed(text)
    if not hasattr(space, "node"):
        return text
    try:
        return space.node(text)
    except InputError:
        raise
    except Exception as error:  # of the user's own code
        raise InputError(f"{type(space).__name__}.node({text!r}) failed: {type(error).__name__}: {error}") from error


def read_seeds(options: Options, space: Space | None, notes: list[str], *, files: bool = True) -> Seeds:
    """The seeds in canonical form, those in `files` among them. No space: the web, not made yet."""
    if space is None or getattr(space, "has_addresses", False):
        return _addresses(options, notes, files)
    return _nodes(options, space, notes, files)


def _nodes(options: Options, space: Space, notes: list[str], files: bool) -> Seeds:
    """Of a space that is not the web; a file has one a line."""
    seeds, check = Seeds(), partial(node_of, space)
    read = [line for name in options.seed_files if files for line in read_lines(Path(name), check, notes)]
    for text in (*options.seeds, *read):
        node = node_of(space, text)
        if node is None:
            entry = SPACES.get(parse(options.space)[0])
            wanted = f": it must be {entry.needs}" if entry is not None else ""
            raise InputError(f"the seed {text!r} is nothing that {type(space).__name__} can visit{wanted}")
        seeds.nodes.setdefault(node, "page")
    return seeds


def _addresses(options: Options, notes: list[str], files: bool) -> Seeds:
    """Of the web; those out of scope are left out."""
    seeds, scope = Seeds(), Scope.of(options)
    named: list[tuple[str, Kind]] = [(text, "page") for text in options.seeds]
    for name in options.seed_files if files else ():
        named += [(name, "sitemap")] if is_http(name) else _read_file(Path(name), seeds, notes)
    for text, kind in named:
        url = check_seed(text)
        if url is None:
            raise InputError(f"the seed {text!r} is not a web address: write it like https://example.org/page")
        if scope(url, 0):
            seeds.nodes.setdefault(url, kind)
        else:
            seeds.outside += 1
            notes.append(f"the seed {url} lies outside the scope and is left out")
    return seeds


def _read_file(path: Path, seeds: Seeds, notes: list[str]) -> list[tuple[str, Kind]]:
    """What a file names to start from; a saved sitemap or feed becomes one of the sources."""
    source = read_seed_file(path)
    named: list[tuple[str, Kind]] = [(line, "page") for line in source.lines]
    named += [(url, "sitemap") for url in source.nested]
    if source.form in ("sitemap", "sitemap index", "feed"):
        seeds.sources.append((f"file:{path.name}", source))
    else:
        named += [(url, "page") for url in source.links.urls]
    if source.note or source.skipped:
        left_out = ", ".join(f"{count} {why}" for why, count in source.left_out.items())
        notes.append(f"{path}: {'; '.join(filter(None, (source.note, left_out and f'left out: {left_out}')))}")
    return named
