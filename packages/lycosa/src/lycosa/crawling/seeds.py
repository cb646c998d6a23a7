"""What a crawl starts from, as its options name it."""

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
from lycosa.core.spec import parse
from lycosa.core.types import Event, Exchange, Kind, Setting, Visit
from lycosa.spaces import SPACES
from lycosa.web.inflate import BadEncoding, inflate
from lycosa.web.sources import results as answers
from lycosa.web.sources.seed_files import read_lines, read_seed_file
from lycosa.web.sources.source import Source
from lycosa.web.urls import Scope, check_seed, is_http


@dataclass
class Seeds:
    """Nodes to start from, each once, in order, and whether each is a page or a source of addresses."""

    nodes: dict[str, Kind] = field(default_factory=dict)
    # Sitemaps and feeds in files: what they name waits in the frontier instead.
    sources: list[tuple[str, Source]] = field(default_factory=list)
    outside: int = 0  # left out, as out of scope


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


# -- seeds from a search engine ----------------------------------------------------------------------------

# Seeds from a search engine: it is asked for the topic's words, and its first results are where a crawl begins.
#
# The requests are the crawl's own: robots.txt, pauses, the address guard and the user agent are those of every page.
# What was asked and what came of it is recorded, so that a resumed crawl does not ask again.

SETTING = "searched"  # what each engine answered


def check_search(options: Options, space: Space | None) -> None:
    """Whether the engines that are named can be asked. No space: the web, not made yet."""
    if options.search and space is not None and not getattr(space, "has_addresses", False):
        raise InputError("--search finds pages of the web: leave it out, or --space")
    for engine in options.search:
        if "{}" in engine and not options.topic:
            raise InputError(f"--search {engine} needs words to ask for: say the topic in words")
        _address(engine, engine.replace("{}", "words"))


def _address(engine: str, text: str) -> str:
    url = check_seed(text)
    if url is None:
        raise InputError(
            f"--search {engine} is not a web address: write that of a query with {{}} where the words go, as in "
            "https://site.example/search?q={}"
        )
    return url


@dataclass
class SeedSearch:
    """What came of asking."""

    seeds: list[str] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


async def ask_engines(
    options: Options, space: Space, clock: Clock, known: Mapping[str, list[str]] | None = None
) -> SeedSearch:
    """Ask every engine that was not asked before. `known` is what those have named that were: it is recorded again, as
    the last value of a setting is the one that counts."""
    asked, scope = SeedSearch(), Scope.of(options)
    answers_of = dict(known or {})
    for engine in options.search:
        if engine in answers_of:
            continue
        conversation = _Conversation(options, space, clock, engine)
        urls = await conversation.results()
        within = [url for url in urls if scope(url, 0)]
        outside = len(urls) - len(within)
        within = within[: options.search_results]
        asked.events += conversation.visits
        answers_of[engine] = within
        asked.seeds += within
        asked.notes.append(
            f"{len(within)} seeds from {engine}" + (f", {outside} results lie outside the scope" if outside else "")
        )
    if asked.events:
        asked.events.append(Setting(SETTING, answers_of, clock()))
    return asked


@dataclass
class _Conversation:
    """With one engine."""

    options: Options
    space: Space
    clock: Clock
    engine: str
    visits: list[Visit] = field(default_factory=list)

    async def results(self) -> list[str]:
        """Addresses of results; an InputError says why there are none to be had."""
        if "{}" not in self.engine:  # an answer itself: someone has asked, and names the address
            url, body, kind = await self._get(_address(self.engine, self.engine))
            return list(answers.results(body, url, kind)) or self._none()
        url, body, kind = await self._get(self._asking(self.options.topic))
        furniture: set[str] = set()
        if answers.is_page(body, kind):  # what it has for nonsense, too, is no result
            nonsense = "zq" + hashlib.sha256(self.engine.encode()).hexdigest()[:10]
            other, empty, form = await self._get(self._asking(nonsense), may_fail=True)
            furniture = answers.furniture_of(empty, other, form)
        return list(answers.results(body, url, kind, furniture)) or self._none()

    def _asking(self, words: str) -> str:
        return _address(self.engine, self.engine.replace("{}", quote_plus(words)))

    def _none(self) -> list[str]:
        raise InputError(f"--search {self.engine} gave no results: try other words, or name a page with --seed")

    async def _get(self, url: str, may_fail: bool = False) -> tuple[str, bytes, str]:
        """Where an answer is in the end, what it says, and its content type."""
        what = f"the search {url}"
        try:
            node, page, visits = await fetch_page(
                self.space, url, "search", what, clock=self.clock, patience=self.options.patience
            )
        except InputError:
            if may_fail:  # some say 404 when they have found nothing
                return url, b"", ""
            raise
        self.visits += visits
        assert isinstance(page.exchange, Exchange)
        try:
            body, _ = inflate(page.exchange.body, page.exchange.header("content-encoding"), answers.MOST_BYTES)
        except BadEncoding as error:
            raise InputError(f"cannot read {what}: {error}") from error
        return node, body, page.exchange.header("content-type")
