"""Seeds of a crawl: from options, files and search engines."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from urllib.parse import quote_plus

from lycosa.core.errors import InputError
from lycosa.core.options import Options
from lycosa.core.protocols import Clock, Space
from lycosa.core.single_fetch import fetch_page
from lycosa.core.spec import parse_spec
from lycosa.core.types import Event, Exchange, Kind, Setting, Visit
from lycosa.spaces import SPACES
from lycosa.web.inflate import BadEncoding, inflate
from lycosa.web.sources import results as answers
from lycosa.web.sources.seed_files import read_lines, read_seed_file
from lycosa.web.sources.source import Source
from lycosa.web.urls import Scope, check_seed, is_http


@dataclass
class Seeds:
    """Unique seeds in order, each a page or a source of URLs."""

    nodes: dict[str, Kind] = field(default_factory=dict)
    portals: set[str] = field(default_factory=set)  # seeds that are not examples of the topic
    # Local sitemaps and feeds; their links join the frontier.
    sources: list[tuple[str, Source]] = field(default_factory=list)
    outside: int = 0  # number of seeds out of scope


def node_of(space: Space | None, text: str) -> str | None:
    """Return the node that a user means by a seed, or None if it is invalid; without a space, seeds are URLs."""
    if space is None:
        return check_seed(text)
    if not hasattr(space, "node"):
        return text
    try:
        return space.node(text)
    except InputError:
        raise
    except Exception as error:  # from the user's own code
        reason = f"{type(error).__name__}: {error}"
        raise InputError("bad-plugin", f"{type(space).__name__}.node({text!r}) failed: {reason}") from error


def read_seeds(options: Options, space: Space | None, notes: list[str], *, files: bool = True) -> Seeds:
    """Return canonical seeds, with those of seed files if `files` is set; without a space, seeds are URLs."""
    if space is None or getattr(space, "has_addresses", False):
        return _addresses(options, notes, files)
    return _nodes(options, space, notes, files)


def _nodes(options: Options, space: Space, notes: list[str], files: bool) -> Seeds:
    """Return the seeds of a space other than the web; seed files have one per line."""
    seeds, check = Seeds(), partial(node_of, space)
    read = [line for name in options.seed_files if files for line in read_lines(Path(name), check, notes)]
    for text in (*options.seeds, *read, *options.portals):
        node = node_of(space, text)
        if node is None:
            entry = SPACES.get(parse_spec(options.space)[0])
            wanted = f": it must be {entry.needs}" if entry is not None else ""
            raise InputError("bad-seed", f"the seed {text!r} is not valid for {type(space).__name__}{wanted}")
        if text in options.portals:
            seeds.portals.add(node)
        seeds.nodes.setdefault(node, "page")
    return seeds


def _addresses(options: Options, notes: list[str], files: bool) -> Seeds:
    seeds, scope = Seeds(), Scope.of(options)
    named: list[tuple[str, Kind]] = [(text, "page") for text in options.seeds]
    for name in options.seed_files if files else ():
        named += [(name, "sitemap")] if is_http(name) else _read_file(Path(name), seeds, notes)
    named += [(text, "page") for text in options.portals]
    for text, kind in named:
        url = check_seed(text)
        if url is None:
            hint = "write it like https://example.org/page"
            raise InputError("bad-url", f"the seed {text!r} is not a web address: {hint}")
        if text in options.portals:
            seeds.portals.add(url)
        if scope(url, 0):
            seeds.nodes.setdefault(url, kind)
        else:
            seeds.outside += 1
            notes.append(f"the seed {url} is out of scope and was skipped")
    return seeds


def _read_file(path: Path, seeds: Seeds, notes: list[str]) -> list[tuple[str, Kind]]:
    """Return the seeds in a file; a saved sitemap or feed is added to `seeds.sources`."""
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


SEARCHES_SETTING = "searched"  # name of the setting with the results of each search engine


def check_search(options: Options, space: Space | None) -> None:
    """Raise InputError if a search engine can't be queried."""
    if options.search and space is not None and not getattr(space, "has_addresses", False):
        raise InputError("conflicting-options", "--search finds web pages only: leave out --search or --space")
    for engine in options.search:
        if "{}" in engine and not options.topic:
            raise InputError("missing-topic", f"--search {engine} needs a query: give a topic in words")
        _address(engine, engine.replace("{}", "words"))


def _address(engine: str, text: str) -> str:
    url = check_seed(text)
    if url is None:
        hint = "write {} where the words go, as in https://site.example/search?q={}"
        raise InputError("bad-url", f"--search {engine} is not a web address: {hint}")
    return url


@dataclass
class SeedSearch:
    """Seeds found by search engines, and the events to record."""

    seeds: list[str] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


async def ask_engines(
    options: Options, space: Space, clock: Clock, known: Mapping[str, list[str]] | None = None
) -> SeedSearch:
    """Query every search engine that is not in `known` for the topic's words; its first results are seeds.

    All results are recorded in a setting, so that a resumed crawl does not query again.
    """
    result, scope = SeedSearch(), Scope.of(options)
    results_by_engine = dict(known or {})
    for engine in options.search:
        if engine in results_by_engine:
            continue
        client = _EngineClient(options, space, clock, engine)
        urls = await client.results()
        in_scope = [url for url in urls if scope(url, 0)]
        outside = len(urls) - len(in_scope)
        in_scope = in_scope[: options.search_results]
        result.events += client.visits
        results_by_engine[engine] = in_scope
        result.seeds += in_scope
        skipped = f", {outside} results out of scope" if outside else ""
        result.notes.append(f"{len(in_scope)} seeds from {engine}{skipped}")
    if result.events:
        result.events.append(Setting(SEARCHES_SETTING, results_by_engine, clock()))
    return result


@dataclass
class _EngineClient:
    """Requests to one search engine, and their visits."""

    options: Options
    space: Space
    clock: Clock
    engine: str
    visits: list[Visit] = field(default_factory=list)

    async def results(self) -> list[str]:
        """Return the result URLs, or raise InputError."""
        if "{}" not in self.engine:  # a saved query URL
            url, body, kind = await self._get(_address(self.engine, self.engine))
            return list(answers.parse_results(body, url, kind)) or self._no_results()
        url, body, kind = await self._get(self._query_url(self.options.topic))
        boilerplate: set[str] = set()
        if answers.is_html_response(body, kind):  # links that a nonsense query returns as well are not results
            nonsense = "zq" + hashlib.sha256(self.engine.encode()).hexdigest()[:10]
            other, empty, form = await self._get(self._query_url(nonsense), may_fail=True)
            boilerplate = answers.boilerplate_links(empty, other, form)
        return list(answers.parse_results(body, url, kind, boilerplate)) or self._no_results()

    def _query_url(self, words: str) -> str:
        return _address(self.engine, self.engine.replace("{}", quote_plus(words)))

    def _no_results(self) -> list[str]:
        hint = "try other words, or give a page with --seed"
        raise InputError("no-results", f"--search {self.engine} gave no results: {hint}")

    async def _get(self, url: str, may_fail: bool = False) -> tuple[str, bytes, str]:
        """Fetch a page; return its final URL, body and content type."""
        noun = f"the search {url}"
        try:
            patience = self.options.patience
            node, page, visits = await fetch_page(self.space, url, "search", noun, clock=self.clock, patience=patience)
        except InputError:
            if may_fail:  # some engines return 404 without results
                return url, b"", ""
            raise
        self.visits += visits
        assert isinstance(page.exchange, Exchange)
        try:
            body, _ = inflate(page.exchange.body, page.exchange.header("content-encoding"), answers.MAX_BYTES)
        except BadEncoding as error:
            raise InputError("unreadable-response", f"cannot read {noun}: {error}") from error
        return node, body, page.exchange.header("content-type")
