"""The request for a crawl, validated on creation: before anything is written or sent."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lycosa.browser import renderer_of
from lycosa.core.budget import Budget, requests_for
from lycosa.core.composite import steer
from lycosa.core.durations import parse_duration
from lycosa.core.engine import NO_TRACER, StepTracer
from lycosa.core.errors import InputError
from lycosa.core.options import DEFAULT_STRATEGY, Options
from lycosa.core.progress import ProgressCallback, no_progress
from lycosa.core.protocols import Clock, Estimator, Judge, Space, Strategy
from lycosa.core.spec import format_spec, make_with, parse_spec
from lycosa.core.stopping import read_rules
from lycosa.crawling.seeds import Seeds, check_search, read_seeds
from lycosa.judges import JUDGES
from lycosa.judges.factory import BROWSING, TOPIC_OPTIONS, check_request, judge_name, make_judge, takes_ontology
from lycosa.revisit.revisit_scheduler import RevisitPlan
from lycosa.spaces import SPACES
from lycosa.spaces.making import guard_of, make_space, signer_of, user_agent, wall_clock
from lycosa.spaces.web_space import WebSpace
from lycosa.store.directory import with_resolved_files
from lycosa.strategies import STRATEGIES, TAXONOMY
from lycosa.strategies import strategy as strategy_by_name
from lycosa.text.keywords import keywords
from lycosa.web.credentials import Credentials
from lycosa.web.politeness import SharedPoliteness
from lycosa.web.urls import Scope


@dataclass
class CrawlRequest:
    """Options, a directory, and the user's own objects in place of those named by the options."""

    options: Options
    path: Path | None = None
    own_judge: Judge | None = None
    strategy: Estimator | Strategy | None = None
    space: Space | None = None  # the user's own, or the one named by the options, once created
    clock: Clock = field(default_factory=wall_clock)
    resuming: bool = False
    owns: Callable[[str], bool] | None = None  # nodes that this shard fetches; None: all
    first: bool = True  # true for the shard that reads seed files, and without shards
    topic_terms: dict[str, Any] = field(default_factory=dict)  # terms of example pages that another shard has read
    revisit_plan: RevisitPlan | None = None  # revisits of known pages
    authority: SharedPoliteness | None = None
    notes: list[str] = field(default_factory=list)  # shown to the user
    on_failure: Callable[[str], None] = lambda reason: None  # called if the proxy has stopped working
    progress: ProgressCallback = no_progress  # progress of reading the log
    steps: StepTracer = NO_TRACER  # tracing of the six steps
    suited: str = field(default="", init=False)  # strategy recommended by the space

    def __post_init__(self) -> None:
        options = self.options
        # Own objects can't be created again from the options.
        self.has_own_parts = any(part is not None for part in (self.own_judge, self.strategy, self.space))
        self.in_directory = self.resuming  # relative paths in the options refer to the directory
        self._judge = self.own_judge  # None while it needs example pages or terms from the log
        options.check()
        self.stopping = [] if self.revisit_plan is not None else read_rules(options.until)
        if self.revisit_plan is not None:
            from lycosa.revisit.notify import channels_of, wanted_by  # imported here because plain crawls don't need it

            self.revisit_plan.check(options)
            channels_of(options.notify)
            parse_duration(options.notify_every, "--notify-every")
            wanted_by(options)
        Scope.of(options)
        guard_of(options)
        user_agent(options)
        signer_of(options)
        Credentials(options.headers, options.cookies)
        if parse_spec(options.space)[0] != "web":
            self.make_space()
        check_search(options, self.space)
        self.seeds = Seeds() if self.resuming else self._first_seeds()
        self._check_own()
        if self.own_judge is None:
            self._check_judge()
        self._suit()
        self._check_ontology()
        self.make_strategy()

    def _first_seeds(self) -> Seeds:
        options = self.options
        seeds = read_seeds(options, self.space, self.notes)
        if seeds.outside and not seeds.nodes and not options.search:
            hint = "check --host, --domain, --include and --exclude"
            raise InputError("out-of-scope", f"every seed is out of scope: {hint}")
        driven = getattr(self.space, "driven", "")
        if not seeds.nodes and not seeds.sources and not options.search and not driven:
            hint = "a file of seeds with --seeds FILE, or a search engine with --search URL"
            raise InputError("no-seeds", f"no seeds: give a page to start from with --seed URL, {hint}")
        return seeds

    def _check_own(self) -> None:
        decides = "pick" if hasattr(self.strategy, "pick") else "priority"  # method of a strategy, or of an estimator
        for part, needs in ((self.own_judge, "judge"), (self.strategy, decides), (self.space, "visit")):
            if part is not None and not hasattr(part, needs):
                raise InputError("bad-plugin", f"{part!r} has no method {needs}(): see lycosa.core.protocols")

    def _check_judge(self) -> None:
        """Create the judge, or check that it can be created, and store its name in the options."""
        options = self.options
        has_topic = any(getattr(options, name) for name in TOPIC_OPTIONS)
        entry = SPACES.get(parse_spec(options.space)[0])
        if not options.judge and not has_topic and entry is not None:
            options.judge = entry.judge  # the space knows the relevance of its nodes
        if not options.judge and (has_topic or judge_name(options) == BROWSING):
            options.judge = judge_name(options)
        check_request(self.with_resolved_files)
        if not options.examples and not (self.resuming and options.terms):
            self._judge = make_judge(self.with_resolved_files)
            # as spelled in the model, including its defaults
            options.targets = list(getattr(self._judge, "targets", options.targets))

    def _suit(self) -> None:
        if self.options.strategy:
            return
        self.suited = getattr(self.space, "strategy", "") if self.strategy is None and not self.resuming else ""
        self.options.strategy = self.suited or DEFAULT_STRATEGY

    def _check_ontology(self) -> None:
        """Raise InputError if neither judge nor strategy uses the ontology given."""
        options = self.options
        if not options.ontology or self.own_judge is not None or self.strategy is not None:
            return
        judge, (guide, given) = judge_name(options), parse_spec(options.strategy)
        bandit = guide in STRATEGIES and STRATEGIES[guide].module == "bandit"
        names = [parse_spec(arm)[0] for arm in given.get("arms", "").split("+") if arm] if bandit else [guide]
        if not any(map(takes_ontology, [JUDGES.maker(judge), *map(STRATEGIES.maker, names)])):
            hint = "choose one that does, such as --judge ehrig, or drop it"
            message = f"neither the judge {judge} nor the strategy {guide} uses --ontology: {hint}"
            raise InputError("conflicting-options", message)

    @property
    def command(self) -> str:
        """Subcommand of `lycosa` that continues the crawl."""
        return "resume" if self.revisit_plan is None else "refresh" if self.revisit_plan.once else "watch"

    @property
    def is_watch(self) -> bool:
        return self.revisit_plan is not None and not self.revisit_plan.once

    @property
    def with_resolved_files(self) -> Options:
        """Options with absolute paths; in the options of a crawl, paths are relative to its directory."""
        if self.path is None or not self.in_directory:
            return self.options
        return with_resolved_files(self.options, self.path)

    @property
    def budget(self) -> Budget:
        """Budget of the run: of pages for a crawl, of requests for a refresh."""
        options = self.options
        if self.revisit_plan is not None:
            return Budget(seconds=options.max_time, requests=self.revisit_plan.requests)
        page_assets = options.max_page_assets if options.page_assets else 0
        requests = options.max_requests or requests_for(options.budget, page_assets)
        return Budget(options.budget, options.max_bytes, options.max_time, requests)

    def make_space(self) -> Space:
        if self.space is None:
            on_failure = lambda reason: self.on_failure(reason)  # noqa: E731 - it may be replaced later
            self.space = make_space(self.options, self.clock, on_failure, self.authority, words=keywords)
            if isinstance(self.space, WebSpace):
                shared = self.authority is not None  # the memory is shared with the browsers of other crawls
                self.space.renderer = renderer_of(self.options, megabytes=400 if shared else None)
        return self.space

    async def discard_parts(self) -> None:
        """Close the space; the space and the judge are created again when needed."""
        if self.space is not None:
            await self.space.close()
        self.space = self._judge = None

    @property
    def lacks_terms(self) -> bool:
        """True if the judge still needs the terms of a file or of example pages."""
        return self._judge is None

    def make_judge(self, topic_terms: dict[str, Any]) -> Judge:
        """Return the judge, created with these terms on the first call."""
        self._judge = self._judge or make_judge(self.with_resolved_files, topic_terms)
        return self._judge

    def make_strategy(self) -> Strategy:
        """Return the user's own strategy, or create the one named by the options."""
        options, judge = self.with_resolved_files, self._judge
        if self.strategy is not None:
            own = self.strategy
            if isinstance(own, Estimator):
                given = {"spread": str(options.spread)}
                return make_with(steer, given, "--spread", estimator=own, name=options.strategy)
            if options.spread:
                raise InputError("conflicting-options", f"--spread needs an estimator, but {own!r} picks by itself")
            return own
        entry = STRATEGIES.get(parse_spec(options.strategy)[0])
        if entry is not None and entry.needs == TAXONOMY and not options.model and self.own_judge is None:
            hint = "give it --model FILE, as 'lycosa train' makes it"
            raise InputError("missing-model", f"{options.strategy} needs to know the classes of pages: {hint}")
        name, given = parse_spec(options.strategy)
        if options.spread:
            given.setdefault("spread", f"{options.spread:g}")
        return strategy_by_name(
            format_spec(name, given),
            targets=tuple(options.targets or getattr(judge, "targets", ())),
            seed=options.random_seed,
            budget=options.budget,
            threshold=getattr(judge, "threshold", 0.1),
            probability=getattr(judge, "probability", False),
            exact=getattr(judge, "exact", False),
            words=self._words(),
            stems=getattr(judge, "weights", None) if options.examples else None,
            ontology=options.ontology,
        )

    def _words(self) -> str | Mapping[str, float]:
        if self.options.examples:  # the words of examples are stems, whose meaning is unknown
            return self.options.topic
        if self._judge is None and self.options.terms:
            return "words"  # the file is not read yet, because only the request is checked
        words = getattr(self._judge, "words", "")  # the user's own judge may have any attribute of this name
        return (words if isinstance(words, str | Mapping) else "") or self.options.topic
