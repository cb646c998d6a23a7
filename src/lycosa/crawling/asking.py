"""Seeds from a search engine: it is asked for the topic's words, and its first results are where a crawl begins.

The requests are the crawl's own: robots.txt, pauses, the address guard and the user agent are those of every page. What
was asked and what came of it is recorded, so that a resumed crawl does not ask again.

Paper items:
    batsakis-search-seeds: `--search`, `--search-results`. Test:
        crawl/test_search_seeds.py::test_the_first_results_are_seeds.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field

from lycosa.core.errands import fetch
from lycosa.core.errors import InputError
from lycosa.core.options import Options
from lycosa.core.protocols import Clock, Space
from lycosa.core.types import Event, Exchange, Setting, Visit
from lycosa.web.inflate import BadEncoding, inflate
from lycosa.web.scope import Scope
from lycosa.web.sources import results as answers
from lycosa.web.urls import check_seed

SETTING = "searched"
"""Under this name the log keeps what each engine answered."""


def check_search(options: Options, space: Space | None) -> None:
    """Whether the engines that are named can be asked. No space: the web, not made yet."""
    if options.search and space is not None and not getattr(space, "has_addresses", False):
        raise InputError("--search finds pages of the web: leave it out, or --space")
    for engine in options.search:
        if not answers.is_template(engine):
            _address(engine, engine)
        elif not options.topic:
            raise InputError(f"--search {engine} needs words to ask for: say the topic in words")
        else:
            _query(engine, engine, options.topic, options.search_results)


def _query(engine: str, template: str, words: str, count: int) -> str:
    """The address that asks an engine for some words."""
    asked = answers.filled(template, words, count)
    if asked is None:
        raise InputError(f"--search {engine} asks for more than words: write the address of a query, with {{}}")
    return _address(engine, asked)


def _address(engine: str, text: str) -> str:
    url = check_seed(text)
    if url is None:
        raise InputError(
            f"--search {engine} is not a web address: write that of an OpenSearch description, or of a query with {{}} "
            "where the words go, as in https://site.example/search?q={}"
        )
    return url


@dataclass
class Asked:
    """What came of asking."""

    seeds: list[str] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


async def ask_engines(
    options: Options, space: Space, clock: Clock, known: Mapping[str, list[str]] | None = None
) -> Asked:
    """Ask every engine that was not asked before. `known` is what those have named that were: it is recorded again, as
    the last value of a setting is the one that counts."""
    asked, scope = Asked(), Scope.of(options)
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
        template = self.engine if answers.is_template(self.engine) else ""
        if not template:
            url, body, kind = await self._get(_address(self.engine, self.engine))
            template = answers.read_description(body, url)
            named = "" if template or "?" in url else answers.description_in(body, url)
            if named:
                url, body, kind = await self._get(named)
                template = answers.read_description(body, url)
            if not template:  # an answer itself: someone has asked, and names the address
                return list(answers.results(body, url, kind)) or self._none()
        url, body, kind = await self._get(self._asking(template, self.options.topic))
        furniture: set[str] = set()
        if answers.is_page(body, kind):  # what it has for nonsense, too, is no result
            nonsense = "zq" + hashlib.sha256(template.encode()).hexdigest()[:10]
            other, empty, form = await self._get(self._asking(template, nonsense), may_fail=True)
            furniture = answers.furniture_of(empty, other, form)
        return list(answers.results(body, url, kind, furniture)) or self._none()

    def _asking(self, template: str, words: str) -> str:
        if not words:
            raise InputError(f"--search {self.engine} needs words to ask for: say the topic in words")
        return _query(self.engine, template, words, self.options.search_results)

    def _none(self) -> list[str]:
        raise InputError(f"--search {self.engine} gave no results: try other words, or name a page with --seed")

    async def _get(self, url: str, may_fail: bool = False) -> tuple[str, bytes, str]:
        """Where an answer is in the end, what it says, and its content type."""
        what = f"the search {url}"
        try:
            node, page, visits = await fetch(
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
