"""Put a crawl together and run it: `lycosa.crawl(...)`, `resume`, `revisit`, `watch`. The command line is a skin over
this.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, Self

from lycosa.core.budget import Budget, requests_for
from lycosa.core.engine import Engine
from lycosa.core.errands import fetch
from lycosa.core.errors import InputError
from lycosa.core.mark import Mark
from lycosa.core.options import Options
from lycosa.core.pace import Pace
from lycosa.core.protocols import Archive, Clock, Estimator, Log, Space, Strategy, Topic
from lycosa.core.spec import parse
from lycosa.core.strategies import steer
from lycosa.core.table import OPEN, Table
from lycosa.core.types import Event, Kind, Lesson, Page, Seed, Setting, Task, Visit
from lycosa.estimators import STRATEGIES, TAXONOMY
from lycosa.estimators import strategy as strategy_by_name
from lycosa.refresh.keeper import Keeper, Keeping
from lycosa.refresh.telling.excerpts import Excerpts
from lycosa.refresh.telling.herald import Crier, Herald, targets_of, wanted_by
from lycosa.spaces import SPACES
from lycosa.spaces.making import guard_of, make_space, user_agent, wall_clock
from lycosa.spaces.web import WebSpace, source_page
from lycosa.store.directory import Directory, located
from lycosa.store.labels import labels_in
from lycosa.store.log import NullLog, SqliteLog
from lycosa.store.versions import Versions
from lycosa.store.warc import WarcArchive
from lycosa.text.keywords import keywords
from lycosa.text.vocabulary import Vocabulary
from lycosa.topics import DEFAULT, FORMER, TOPICS
from lycosa.topics.around import InLanguage, heeding
from lycosa.topics.examples import learned_from
from lycosa.topics.making import SOURCES, check_request, fingerprint, judge_of, make_topic, read_terms, takes_ontology
from lycosa.traps.warden import Warden
from lycosa.version import SOFTWARE
from lycosa.web.authority import Authority
from lycosa.web.html import page_in
from lycosa.web.scope import Scope
from lycosa.web.sources.files import read_lines, read_seed_file
from lycosa.web.sources.source import Source
from lycosa.web.urls import check_seed, is_http

AT_ONCE = 10
"""Events of a log that are folded before others get a turn."""


def crawl(
    topic: str | Topic = "",
    seeds: Iterable[str] = (),
    *,
    out: str | Path | None = None,
    strategy: str | Estimator | Strategy = "",
    space: str | Space | None = None,
    clock: Clock | None = None,
    config: str | Path | None = None,
    authority: Authority | None = None,
    **options: Any,
) -> Crawl:
    """A new crawl. Iterate over it to make it run; each turn gives a `Visit`.

    `topic`, `strategy` and `space` may be objects of your own; the strategy is scent unless you or the `config`
    file say otherwise. Without `out` nothing is written to disk. Crawls in one process that share an `authority`
    are polite together. The other options are those of `lycosa crawl --help`, with underscores.

    >>> from lycosa.spaces.graph import GraphSpace
    >>> from lycosa.topics.given import Given
    >>> graph = GraphSpace({"a": ["b", "c"], "c": ["d"]}, beta={"c": 1, "d": 1})
    >>> [visit.node for visit in crawl(Given(), ["a"], space=graph, strategy="breadth-first")]
    ['a', 'b', 'c', 'd']
    """
    base = Options.load(Path(config)) if config is not None else Options()
    chosen = replace(base, seeds=([seeds] if isinstance(seeds, str) else list(seeds)) or base.seeds)
    if isinstance(topic, str) and topic:
        chosen.topic = topic
    if isinstance(strategy, str) and strategy:
        chosen.strategy = strategy
    if isinstance(space, str):
        chosen.space = space
    return Crawl(
        Options.from_mapping({**vars(chosen), **options}, "crawl()"),
        Path(out) if out is not None else None,
        topic=None if isinstance(topic, str) else topic,
        guide=None if isinstance(strategy, str) else strategy,
        space=None if isinstance(space, str) else space,
        clock=clock,
        authority=authority,
    )


def resume(
    out: str | Path,
    *,
    topic: Topic | None = None,
    strategy: Estimator | Strategy | None = None,
    space: Space | None = None,
    clock: Clock | None = None,
    authority: Authority | None = None,
    **changes: Any,
) -> Crawl:
    """Go on with the crawl in a directory; `changes` to its options (a larger budget, say) are kept.

    A crawl made with objects of your own needs them again.
    """
    path = Path(out)
    options = Options.from_mapping({**vars(Directory.read_options(path)), **changes}, "resume()")
    return Crawl(
        options, path, topic=topic, guide=strategy, space=space, clock=clock, resuming=True, authority=authority
    )


def revisit(
    out: str | Path,
    *,
    everything: bool = False,
    now: Iterable[str] = (),
    requests: int = 0,
    began: float = 0.0,
    topic: Topic | None = None,
    space: Space | None = None,
    clock: Clock | None = None,
    authority: Authority | None = None,
    **changes: Any,
) -> Crawl:
    """Look again at the pages of a directory that are due, or at `everything`; ends when nothing more is.

    Each turn gives a `Visit`; `lycosa.refresh.change.change_of(visit)` says what has become of its page. `now`:
    patterns of addresses to look at first, due or not. `began`: when it began, if it is one that was broken off.
    `changes` to the crawl's options are kept.
    """
    keeping = Keeping(once=True, everything=everything, now=list(now), requests=requests, began=began)
    return _kept(Path(out), keeping, topic, space, clock, changes, authority)


def watch(
    out: str | Path,
    *,
    now: Iterable[str] = (),
    requests: int = 0,
    topic: Topic | None = None,
    space: Space | None = None,
    clock: Clock | None = None,
    **changes: Any,
) -> Crawl:
    """Keep the pages of a directory fresh, within `per_hour` requests an hour, until it is stopped."""
    return _kept(Path(out), Keeping(now=list(now), requests=requests), topic, space, clock, changes)


def _kept(
    path: Path,
    keeping: Keeping,
    topic: Topic | None,
    space: Space | None,
    clock: Clock | None,
    changes: dict[str, Any],
    authority: Authority | None = None,
) -> Crawl:
    options = Options.from_mapping({**vars(Directory.read_options(path)), **changes}, "revisit()")
    return Crawl(
        options, path, topic=topic, space=space, clock=clock, resuming=True, keeping=keeping, authority=authority
    )


class Crawl:
    """One crawl, new or resumed: an iterator over its visits, for `async for` as well as for plain `for`.

    While it runs, `engine` tells how it goes: `engine.tally`, `engine.frontier`, `engine.in_flight`.
    """

    def __init__(
        self,
        options: Options,
        path: Path | None,
        *,
        topic: Topic | None = None,
        guide: Estimator | Strategy | None = None,
        space: Space | None = None,
        clock: Clock | None = None,
        resuming: bool = False,
        keeping: Keeping | None = None,
        authority: Authority | None = None,
    ) -> None:
        self.options = options
        self.path = path
        self.resuming = resuming
        self.engine: Engine | None = None
        self.notes: list[str] = []
        """What a person should know: what was moved aside, seeds that lie out of scope."""
        self.lessons = 0
        """Labels that the judge has heard."""
        self.lost = ""
        """Why the crawl had to be stopped: its proxy is gone."""
        self._clock = clock or wall_clock()
        self._topic = self._own_topic = topic
        self._directory: Directory | None = None
        self._keeping = keeping
        self._crier: Crier | None = None
        self._judged_by = ""
        """The judge of the last page of an earlier run."""
        self._authority = authority
        self._opened: Engine | None = None
        self._stopping = False
        self._running: AsyncGenerator[Visit, None] | None = None
        # What can be wrong with the request is found here, before anything is written or sent.
        options.check()
        if keeping is not None:
            keeping.check(options)
            targets_of(options)
            wanted_by(options)
        self._scope = Scope(options.hosts, options.domains, options.include, options.exclude, options.max_depth)
        guard_of(options)
        user_agent(options)
        self._seeds: dict[str, Kind] = {}
        self._sources: list[tuple[str, Source]] = []
        if space is None and parse(options.space)[0] != "web":
            space = make_space(options, self._clock, self._lost, authority, words=keywords)
        self._space = space
        if not resuming:
            self._seeds = self._read_seeds() if space is None else self._nodes(space)
        if not self._seeds and not self._sources and not resuming:
            raise InputError("no seed: name a page to start from with --seed URL, or a file of them with --seeds FILE")
        self._guide = guide
        decides = "pick" if hasattr(guide, "pick") else "score"  # a strategy, or an estimator to be greedy over
        for part, needs in ((topic, "judge"), (guide, decides), (space, "visit")):
            if part is not None and not hasattr(part, needs):
                raise InputError(f"{part!r} has no {needs}(): see lycosa.core.protocols for what it takes")
        if topic is None:
            options.judge = options.judge or self._judge_of_space()
            if resuming and not options.judge and judge_of(options) == DEFAULT:
                options.judge = FORMER  # of an earlier version, until it is judged anew
            options.judge = options.judge or (
                judge_of(options) if any(getattr(options, one) for one in SOURCES) else ""
            )
            located = self._located()
            check_request(located)
            if not options.examples and not (resuming and options.terms):
                self._topic = make_topic(located)
                # As the model spells them, and those it did not have to be told.
                options.targets = list(getattr(self._topic, "targets", options.targets))
        self._check_ontology()
        self._strategy()
        self._log: Log | None = None
        self._archive: Archive | None = None
        self._mark = Mark()

    # -- running -----------------------------------------------------------------------------------------------

    def __aiter__(self) -> AsyncGenerator[Visit, None]:
        """Run it; each turn gives a recorded visit."""
        self._running = self._run()
        return self._running

    async def _run(self) -> AsyncGenerator[Visit, None]:
        try:
            engine = self._opened or await self._open()
            if self._stopping:
                engine.stop()
            async with aclosing(engine.run()) as visits:
                async for visit in visits:
                    self._tell(visit)
                    yield visit
        finally:
            await self._close()

    async def open(self) -> Engine:
        """Get everything in place without fetching a page yet: what else happens at the first turn."""
        try:
            self._opened = await self._open()
        except BaseException:
            await self._close()
            raise
        return self._opened

    def _tell(self, visit: Visit) -> None:
        """Whoever wants to hear of changes does."""
        if self._crier is not None and "change" in visit.data:
            self._crier.news()

    async def __aenter__(self) -> Self:
        """With `async with`, the crawl is closed also when the loop over it is left early."""
        return self

    async def __aexit__(self, *exception: object) -> None:
        if self._running is not None:
            await self._running.aclose()
            self._running = None

    def __iter__(self) -> Iterator[Visit]:
        """Run it without asyncio. Nothing is fetched while the loop's body works: let it be quick."""
        if asyncio._get_running_loop() is not None:
            raise InputError("an event loop is running here already (a notebook?): write 'async for' in place of 'for'")
        with asyncio.Runner() as runner:
            visits = aiter(self)
            try:
                while True:
                    try:
                        yield runner.run(anext(visits))
                    except StopAsyncIteration:
                        break
            finally:
                runner.run(visits.aclose())

    @property
    def command(self) -> str:
        """What goes on with it on the command line."""
        return "resume" if self._keeping is None else "refresh" if self._keeping.once else "watch"

    def stop(self) -> None:
        """End after what is in flight has arrived."""
        self._stopping = True
        if self.engine is not None:
            self.engine.stop()

    # -- putting it together -----------------------------------------------------------------------------------

    async def _open(self) -> Engine:
        """Everything in place for a run: files, topic, engine, and the engine where the log ends."""
        options = self.options
        space = self._space = self._space or make_space(
            options, self._clock, self._lost, self._authority, words=keywords
        )
        news: list[Event] = []
        learned: dict[str, Any] = {}
        if not self.resuming:  # before anything is written: an example may not be readable
            learned = await self._learned(space, news)
        log, archive = self._open_files()
        if self._topic is None and isinstance(log, SqliteLog) and self.resuming:
            learned = log.setting("learned", {}) or await self._learned(space, news)
        topic = self._topic = self._topic or make_topic(self._located(), learned)
        guide = self._strategy(topic.threshold)
        if self._keeping is not None and not options.explore:
            guide = strategy_by_name("breadth-first")  # nothing new is picked: no one has to rank it
        for part in (topic, getattr(guide, "estimator", guide)):
            self.notes += [note for note in getattr(part, "notes", []) if note not in self.notes]
        if hasattr(topic, "facets"):
            topic.facets = guide.wants
        judge_name = fingerprint(options, topic)
        probability = bool(getattr(topic, "probability", False))
        topic = heeding(topic)
        if options.languages:
            topic = InLanguage(topic)
        keeper = self._keeper(space, log, topic.threshold)
        engine = self.engine = Engine(
            space,
            topic,
            guide,
            log,
            clock=self._clock,
            budget=self._budget(),
            keeper=keeper,
            pace=self._paces()[0] if keeper is not None else None,
            archive=archive,
            reader=Vocabulary(options.languages[0] if options.languages else "en"),
            concurrency=options.concurrency,
            host_budget=options.host_budget,
            patience=options.patience,
            choosy=options.choosy,
            warden=Warden(topic.threshold, options.trust) if options.traps and isinstance(space, WebSpace) else None,
            scope=self._scope if isinstance(space, WebSpace) else lambda node, depth: True,
            judge_name=judge_name,
            mark=self._mark,
        )
        if self.resuming:
            await self._replay(engine, self._remembered(log, archive))
            self.lessons = len(labels_in(log)) if isinstance(log, SqliteLog) else 0
            if keeper is not None and "watched" not in engine.tally.settings:  # a crawl's requests are not the watch's
                for pace in filter(None, (engine.picker.pace, keeper.pace)):
                    pace.reset()
            if self._judged_by not in ("", judge_name):
                self.notes.append("the pages so far were judged by another topic, judge, model or ontology")
        now = self._clock()
        # Seeds first: what the robots.txt of an example's host names counts only where a seed is.
        seeds: list[Event] = [Seed(node, now, kind) for node, kind in self._seeds_to_add(engine.table).items()]
        news = [*seeds, *news, Setting("threshold", topic.threshold, now)]
        if self._keeping is not None and not self._keeping.once:
            news.append(Setting("watched", True, now))
        if probability != engine.tally.settings.get("probability", False):
            news.append(Setting("probability", probability, now))
        news += self._suspects(engine, now)
        with log.together():  # all or nothing: a resumed crawl that knows the seeds does not read the files again
            for event in news:
                log.append(event)
                engine.fold(event)
            for name, source in self._sources:
                engine.absorb(Task(name, "sitemap"), source_page(source, now))
            engine.lessons.catch_up()
        self._sources.clear()
        self._mark.clear()
        return engine

    def _suspects(self, engine: Engine, now: float) -> list[Event]:
        """The pages that earlier runs died in, the last run among them: told to whoever reads and judges."""
        deaths: dict[str, int] = dict(engine.tally.settings.get("deaths", {}))  # type: ignore[call-overload]
        self._mark.deaths = deaths
        for space in (self._space, getattr(self._space, "web", None)):
            if isinstance(space, WebSpace):
                space.mark = self._mark
        node = self._mark.left
        if not node:
            return []
        deaths[node] = deaths.get(node, 0) + 1
        then = "left alone" if self._mark.is_poison(node) else "it is read apart from now on"
        self.notes.append(f"the last run died while it read or judged {node}: {then}")
        return [Setting("deaths", dict(deaths), now)]

    async def _replay(self, engine: Engine, events: Iterator[Event]) -> None:
        """A few at a time: others that run in the same loop want turns. Each is folded before the next is read."""
        engine.replay(())
        for event in events:
            engine.replay(chain((event,), islice(events, AT_ONCE - 1)))
            await asyncio.sleep(0)

    def _budget(self) -> Budget:
        """A crawl's is one of pages and what they may take; a refresh has requests, as it fetches few new ones."""
        options = self.options
        if self._keeping is not None:
            return Budget(seconds=options.max_time, requests=self._keeping.requests)
        requests = options.max_requests or requests_for(options.budget)
        return Budget(options.budget, options.max_bytes, options.max_time, requests)

    def _paces(self) -> tuple[Pace | None, Pace | None]:
        """Of a watch: how many requests an hour, and how many of them for new pages."""
        per_hour, explore = self.options.per_hour, self.options.explore
        if self._keeping is None or self._keeping.once:
            return None, None
        return Pace(per_hour), Pace(explore * per_hour) if explore else None

    def _keeper(self, space: Space, log: Log, threshold: float) -> Keeper | None:
        """Who says what is due; and who tells people of it."""
        if self._keeping is None:
            return None
        if not isinstance(space, WebSpace) or not isinstance(log, SqliteLog) or self.path is None:
            raise InputError(f"{self.path} is not a crawl of the web: only those can be refreshed")
        versions = Versions(log, self.path / "archive")
        herald = Herald(self.path, log, self.options, self._clock, excerpt=Excerpts(versions))
        self._crier = Crier(herald, self._clock, self.notes.append)
        self._crier.start()
        keeper = self._keeping.keeper(self.options, versions, space, threshold, self._clock())
        keeper.pace = self._paces()[1]
        return keeper

    def _located(self) -> Options:
        """The options with whole paths: what a crawl goes by lies in its directory, and is named as seen from there."""
        options, path = self.options, self.path
        if path is None or (not self.resuming and self._directory is None):
            return options
        return located(options, path)

    def _strategy(self, threshold: float = 0.1) -> Strategy:
        """What the options name, or the user's own; one that asks for them gets some facts of the crawl."""
        options, guide = self._located(), self._guide
        if guide is None:
            needs = STRATEGIES.get(parse(options.strategy)[0])
            if needs is not None and needs.needs == TAXONOMY and not options.model and self._own_topic is None:
                raise InputError(
                    f"the strategy {options.strategy} needs to know the classes of pages: give it --model FILE, "
                    "as 'lycosa train' makes it"
                )
            facts = {
                "seed": options.random_seed,
                "budget": options.budget,
                "threshold": threshold,
                "probability": getattr(self._topic, "probability", False),
                "words": self._words(),
                "stems": getattr(self._topic, "weights", None) if options.examples else None,
                "ontology": options.ontology,
            }
            targets = options.targets or list(getattr(self._topic, "targets", []))
            return strategy_by_name(options.strategy, targets=tuple(targets), **facts)
        return steer(guide, options.strategy) if isinstance(guide, Estimator) else guide

    def _check_ontology(self) -> None:
        """Whether anyone goes by the ontology that was given."""
        options = self.options
        if not options.ontology or self._own_topic is not None or self._guide is not None:
            return
        judge, (guide, given) = judge_of(options), parse(options.strategy)
        bandit = guide in STRATEGIES and STRATEGIES[guide].module == "bandit"
        names = [parse(arm)[0] for arm in given.get("arms", "").split("+") if arm] if bandit else [guide]
        if not any(map(takes_ontology, [TOPICS.maker(judge), *map(STRATEGIES.maker, names)])):
            raise InputError(
                f"--ontology says what words mean, but neither the judge {judge} nor the strategy {guide} asks: "
                "choose one that does, for example --judge ehrig or --strategy ehrig, or leave it out"
            )

    def _words(self) -> str | Mapping[str, float]:
        """The topic in words, for strategies that go by their meaning; empty if it is none of words."""
        if self.options.examples:  # their words are stems, of which nobody knows the meaning
            return self.options.topic
        if self._topic is None and self.options.terms:
            return "words"  # of a file that is not read yet: this is only a check of the request
        words = getattr(self._topic, "words", "")  # a topic of your own may call anything so
        return (words if isinstance(words, str | Mapping) else "") or self.options.topic

    def _judge_of_space(self) -> str:
        """Who judges in a space that knows what its nodes are worth, unless a topic is given."""
        entry = SPACES.get(parse(self.options.space)[0])
        return entry.judge if entry is not None and not any(getattr(self.options, name) for name in SOURCES) else ""

    def _nodes(self, space: Space, files: bool = True) -> dict[str, Kind]:
        """The seeds of a space that is not the web, as its nodes; a file has one a line."""
        nodes: dict[str, Kind] = {}
        check = partial(_node, space)
        read = [line for name in self.options.seed_files if files for line in read_lines(Path(name), check, self.notes)]
        for text in (*self.options.seeds, *read):
            node = _node(space, text)
            if node is None:
                entry = SPACES.get(parse(self.options.space)[0])
                wanted = f": it has to be {entry.needs}" if entry is not None else ""
                raise InputError(f"the seed {text!r} is nothing that {type(space).__name__} can visit{wanted}")
            nodes.setdefault(node, "page")
        return nodes

    def _seeds_to_add(self, table: Table) -> dict[str, Kind]:
        """Seeds that the log does not have: all at first, what was added to crawl.toml when resuming."""
        seeds = self._seeds
        if self.resuming and isinstance(self._space, WebSpace):
            seeds = self._read_seeds(files=not table.is_seed.any())
        elif self.resuming and self._space is not None:
            seeds = self._nodes(self._space, files=not table.is_seed.any())
        rows = {node: table.row_of.get(node) for node in seeds}
        return {
            node: seeds[node]
            for node, row in rows.items()
            if row is None or (table.state[row] == OPEN and not table.is_seed[row])
        }

    def _open_files(self) -> tuple[Log, WarcArchive | None]:
        """The log and the archive, of the directory if there is one."""
        if self.path is None:
            self._log = NullLog()
            return self._log, None
        opened = Directory.open(self.path) if self.resuming else Directory.create(self.path, self.options)
        self._directory = opened
        self._mark = Mark(self.path)
        if not self.resuming:
            self.options = self.options.with_files(opened.options.files())  # the directory's own copies
        kept = replace(self.options, max_time=opened.options.max_time)  # a run's own time is not the crawl's
        if vars(opened.options) != vars(kept):
            opened.options = kept
            opened.save()
        log = self._log = opened.log()
        log.command = self.command
        archive = None
        if self.options.archive:
            archive = self._archive = opened.archive(log, SOFTWARE, self.options.rotate)
            archive.command = self.command
            self.notes += [f"beyond the log, moved aside: {what}" for what in opened.moved]
        return log, archive

    def _remembered(self, log: Log, archive: WarcArchive | None) -> Iterator[Event]:
        """The log's events; in passing it is noted who judged, and which payloads the archive holds."""
        for event in log:
            if isinstance(event, Visit | Lesson):
                self._judged_by = event.judge or self._judged_by
            if isinstance(event, Visit) and archive is not None:
                archive.remember(event)
            yield event

    def _lost(self, why: str) -> None:
        """The proxy is gone: going on would only count every page as unreachable."""
        if not self.lost:
            self.lost = why
            self.notes.append(f"{why}: the crawl was stopped")
        self.stop()

    def _read_seeds(self, files: bool = True) -> dict[str, Kind]:
        """The seeds in canonical form, each once, in order; and whether each is a page or a source of addresses."""
        named: list[tuple[str, Kind]] = [(text, "page") for text in self.options.seeds]
        for name in self.options.seed_files if files else ():
            named += [(name, "sitemap")] if is_http(name) else self._read_seed_file(Path(name))
        seeds: dict[str, Kind] = {}
        for text, kind in named:
            url = check_seed(text)
            if url is None:
                raise InputError(f"the seed {text!r} is not a web address: write it like https://example.org/page")
            if not self._scope(url, 0):
                self.notes.append(f"the seed {url} lies outside the scope and is left out")
                continue
            seeds.setdefault(url, kind)
        if named and not seeds and not self.resuming:
            raise InputError("every seed lies outside the scope: check --host, --domain, --include and --exclude")
        return seeds

    def _read_seed_file(self, path: Path) -> list[tuple[str, Kind]]:
        """What a file names to start from; the links of a saved sitemap or feed wait in the frontier instead."""
        source = read_seed_file(path)
        found: list[tuple[str, Kind]] = [(line, "page") for line in source.lines]
        found += [(url, "sitemap") for url in source.nested]
        if source.form in ("sitemap", "sitemap index", "feed"):
            self._sources.append((f"file:{path.name}", source))
        else:
            found += [(url, "page") for url in source.links.urls]
        if source.note or source.skipped:
            told = ", ".join(f"{count} {why}" for why, count in source.left_out.items())
            self.notes.append(f"{path}: {'; '.join(filter(None, (source.note, told and f'left out: {told}')))}")
        return found

    async def _learned(self, space: Space, news: list[Event]) -> dict[str, Any]:
        """The terms of a file or of example pages; `news` gets them, and what it took to read them.

        They are kept in the log: a resumed crawl needs neither the file nor the pages again.
        """
        if not self.options.terms and not self.options.examples:
            return {}
        learned = read_terms(Path(self.options.terms)) if self.options.terms else await self._examples(space, news)
        news.append(Setting("learned", learned, self._clock()))
        return learned

    async def _examples(self, space: Space, news: list[Event]) -> dict[str, Any]:
        """The words that the example pages share."""
        pages: list[Page] = []
        for name in self.options.examples:
            if is_http(name):
                node = check_seed(name)
                if node is None:
                    raise InputError(f"cannot use the example {name}: it is not a web address")
                _, page, visits = await fetch(
                    space, node, "example", f"the example {name}", clock=self._clock, patience=self.options.patience
                )
                pages.append(page)
                news += visits
                continue
            pages.append(page_in(name, whole_text=self.options.whole_text))
        return learned_from(judge_of(self.options), pages)

    async def _close(self) -> None:
        if self._crier is not None:
            crier, self._crier = self._crier, None
            try:
                await crier.close()
            finally:
                await self._close()
            return
        if self._space is not None:
            self.notes += getattr(self._space, "notes", [])
            await self._space.close()
        for part in (self._mark, self._archive, self._log, self._directory):
            if part is not None:
                part.close()
        self._archive = self._log = self._directory = None


def _node(space: Space, text: str) -> str | None:
    """The node that a seed means."""
    if not hasattr(space, "node"):
        return text
    try:
        return space.node(text)
    except InputError:
        raise
    except Exception as error:  # of the user's own code
        raise InputError(f"{type(space).__name__}.node({text!r}) failed: {type(error).__name__}: {error}") from error
