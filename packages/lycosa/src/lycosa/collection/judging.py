"""`lycosa judge`: judge a crawl's pages again without fetching, after a change of topic, examples, threshold or labels.

A judge that learns needs only the words of each page, which are in the log; the state of the crawl's own judge is
restored from the snapshot. Other judges read the pages from the archive. Nothing is written unless `keep` is set.
Logged relevances are never overwritten: new ones are stored beside them, with the ModelUpdate that produced them.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lycosa.collection.crawl_directory import CrawlDirectory, check_threshold
from lycosa.collection.estimate import Estimate, by_uncertainty, estimate, read_widths
from lycosa.collection.pages import LoggedWords
from lycosa.collection.tracing import spellings
from lycosa.core.assessor import count_widths, is_waiting
from lycosa.core.errors import InputError
from lycosa.core.options import Options
from lycosa.core.protocols import Judge, Learner
from lycosa.core.spec import parse_spec
from lycosa.core.state import StateMismatch, check, restore
from lycosa.core.types import Event, Label, ModelUpdate, Page, Seed, Setting, Terms, Visit, apply_label
from lycosa.judges import DEFAULT, JUDGES
from lycosa.judges.base import RELEVANCES, LabelledJudge, LanguageJudge, with_labels
from lycosa.judges.examples import learn_examples
from lycosa.judges.factory import TOPIC_OPTIONS, fingerprint, judge_name, learning_key, make_judge
from lycosa.store.directory import Directory, with_resolved_files
from lycosa.store.log import RELEVANCE_NOW, VERSIONS, SqliteLog, current_labels
from lycosa.store.snapshots import About, Snapshots, code_digest
from lycosa.strategies import STRATEGIES, TAXONOMY, WORDS
from lycosa.text.vocabulary import Vocabulary
from lycosa.web.html import read_example_page
from lycosa.web.inflate import source_of

PAGES_PER_LIST = 10  # pages per list
_COUNTED = "duplicate_of = '' AND seq IN (SELECT current FROM page)"  # SQL for versions that count


@dataclass(frozen=True, slots=True)
class RejudgedPage:
    """Page with its relevance before and after."""

    url: str
    title: str
    before: float
    after: float


@dataclass(slots=True)
class JudgingResult:
    """Result of judging a crawl again."""

    judge: str
    before: Estimate
    after: Estimate
    threshold_before: float
    threshold: float
    gained_count: int = 0  # number of pages that become relevant; `gained` has the best of them
    gained: list[RejudgedPage] = field(default_factory=list)
    lost_count: int = 0  # number of pages that are no longer relevant; `lost` has the best of them
    lost: list[RejudgedPage] = field(default_factory=list)
    nearest: list[RejudgedPage] = field(default_factory=list)  # pages nearest to the threshold
    kept: bool = False
    sample_of: int = 0  # number of all pages if only a sample was judged, else 0

    def as_dict(self) -> dict[str, Any]:
        return {
            "judge": self.judge,
            "pages": self.after.pages,
            "before": {**self.before.as_dict(), "threshold": self.threshold_before},
            "after": {**self.after.as_dict(), "threshold": self.threshold},
            "gained_count": self.gained_count,
            "gained": [asdict(page) for page in self.gained],
            "lost_count": self.lost_count,
            "lost": [asdict(page) for page in self.lost],
            "nearest": [asdict(page) for page in self.nearest],
            "kept": self.kept,
            "sample_of": self.sample_of,
        }


def judge(
    directory: str | Path,
    words: str = "",
    *,
    examples: Iterable[str] = (),
    threshold: float | None = None,
    judge: str = "",
    model: Path | None = None,
    targets: Iterable[str] = (),
    keep: bool = False,
    topic: Judge | None = None,
    now: float | None = None,
    sample: int = 0,
) -> JudgingResult:
    """Judge a crawl again with other words, other example pages (of the crawl, or files), or another threshold.

    Without any of them the crawl's own judge is trained again on all recorded events. `judge` is a name as for `lycosa
    crawl`; `model` is a classifier's file and `targets` its wanted classes; `topic` is a Judge object. With `keep` the
    result is stored and used when the crawl continues. With `sample`, other words and examples are tried on about that
    many pages, evenly spread over the crawl, if it has more than twice as many; `keep` always judges all pages.
    """
    path, now = Path(directory), time.time() if now is None else now
    options = _changed(Directory.read_options(path), words, list(examples), threshold, judge)
    if model is not None:
        options = replace(options, topic="", terms="", examples=[], regex="", background="", judge="")
        options = replace(options, model=str(model.absolute()), targets=list(targets), threshold=threshold or 0.0)
    if keep and topic is None:
        _check_strategy(options)
    with ExitStack() as stack:
        opened = stack.enter_context(closing(Directory.open(path))) if keep else None
        collection = stack.enter_context(CrawlDirectory(path))
        log = stack.enter_context(closing(opened.log())) if opened is not None else collection.log
        rejudging = _Rejudging(collection, log, options, topic, now, 0 if keep else sample)
        if opened is not None:
            if model is not None:
                rejudging.options = opened.replace_model(options, model)
            rejudging.keep(opened)
        return rejudging.judged


def learn(opened: Directory, log: SqliteLog, now: float) -> JudgingResult:
    """Train the crawl's own judge on all recorded events and labels. The caller must hold the lock of the directory."""
    with CrawlDirectory(opened.path) as collection:
        rejudging = _Rejudging(collection, log, collection.options, None, now)
        rejudging.keep(opened)
        return rejudging.judged


def _changed(options: Options, words: str, examples: list[str], threshold: float | None, judge: str) -> Options:
    """Return the crawl's options with the new topic, and a judge and threshold that fit it."""
    changed = replace(options)
    if words or examples:
        changed = replace(options, terms="", regex="", model="", targets=[], background="")
        changed.topic = words or options.topic
        changed.examples = examples or ([] if words else options.examples)
    implied = not options.judge and (words or examples or threshold is None)
    before = judge_name(options)
    unfit = bool(words or examples) and before in JUDGES and not JUDGES[before].needs.startswith("words")
    if judge:
        changed.judge = judge
    elif (implied or unfit) and (changed.topic or changed.examples) and judge_name(changed) != DEFAULT:
        changed.judge = DEFAULT
    if judge_name(changed) != before:
        changed.threshold = 0.0  # thresholds of different judges are not comparable
    if threshold is not None:
        check_threshold(threshold, judge_name(changed) == DEFAULT)
        changed.threshold = threshold
    return changed


def _check_strategy(options: Options) -> None:
    entry = STRATEGIES.get(parse_spec(options.strategy)[0])
    lacks = {TAXONOMY: not options.model, WORDS: not (options.topic or options.terms)}
    if entry is not None and lacks.get(entry.needs):
        basis = "classes, which only a model knows" if entry.needs == TAXONOMY else "a topic in words"
        name = parse_spec(options.strategy)[0]
        raise InputError("unfit-judge", f"the crawl's strategy {name} needs {basis}: start a new crawl for it")


class _Rejudging:
    """One pass of judging, from reading the log to storing the result."""

    def __init__(
        self,
        collection: CrawlDirectory,
        log: SqliteLog,
        options: Options,
        topic: Judge | None,
        now: float,
        sample: int = 0,
    ) -> None:
        self.collection, self.log, self.options, self.now = collection, log, options, now
        self.new_events: list[Event] = []
        rows = list(log.rows(f"seq, url, relevance, {RELEVANCE_NOW}, {_COUNTED}", VERSIONS))
        previous = collection.options
        has_changed = any(getattr(options, name) != getattr(previous, name) for name in (*TOPIC_OPTIONS, "judge"))
        self.sample_of = 0
        self.count_widths = 0.0, 0.0
        if sample and has_changed and topic is None and len(rows) > 2 * sample:
            self.sample_of, rows = len(rows), rows[:: -(-len(rows) // sample)]
        self.seqs: list[int] = [row[0] for row in rows]
        self.nodes: list[str] = [row[1] for row in rows]
        self.relevances, self.before = np.array([row[2] for row in rows]), np.array([row[3] for row in rows])
        self.is_counted = np.array([row[4] for row in rows], np.bool_)
        self.probability = collection.probability
        is_reset = bool(previous.threshold) and not options.threshold  # back to the judge's own threshold
        if topic is not None or has_changed or is_reset or (self._learns() and options.threshold == previous.threshold):
            self.threshold, self.relevances_now = self._judge_again(topic, has_changed or topic is not None)
        else:  # the judge is the same, so its relevances are known
            self.threshold = options.threshold or collection.threshold
            self.relevances_now = self._current_relevances()
        self.judged = self._compared()

    def _learns(self) -> bool:
        """Return True if the crawl's judge learns; False if it is an object that the user passed in."""
        try:
            return hasattr(JUDGES.maker(judge_name(self.options)), "next_update")
        except InputError:
            return False

    def _current_relevances(self) -> NDArray[np.float64]:
        if self._learns():
            return self.before
        relevances_now = self.relevances.copy()
        update = self.log.last_model_update()
        relevances = update.data.get(RELEVANCES, ()) if update is not None else ()
        relevances_now[: len(relevances)] = relevances
        labels = current_labels(self.log)
        for place, node in enumerate(self.nodes):
            if node in labels:
                relevances_now[place] = apply_label(float(relevances_now[place]), labels[node], self.threshold)
        return relevances_now

    def _judge_again(self, topic: Judge | None, has_changed: bool) -> tuple[float, NDArray[np.floating[Any]]]:
        """Train the judge from the log; the crawl's own judge only with events that are not in the snapshot."""
        path, options = self.collection.path, self.options
        make = partial(make_judge, with_resolved_files(options, path))
        learned = self._learned() if topic is None else {}
        topic = make(learned) if topic is None else topic
        name = fingerprint(options, topic)
        self.probability = bool(getattr(topic, "probability", False))
        labelled, learner = self._with_labels(topic)
        reads_pages = isinstance(labelled, LabelledJudge) and has_changed
        reader = _ArchiveJudge(self.collection, learner) if reads_pages else None
        try:
            last_seq = 0 if has_changed else self._restore(learner, name)
        except StateMismatch:
            labelled, learner = self._with_labels(make(learned))
            last_seq = 0
        self._fold(learner, name, reader, last_seq)
        if isinstance(labelled, LabelledJudge) and has_changed:
            update: ModelUpdate | None = labelled.full_update(self.now)
        else:  # a judge without training data waits for it, unless it must rate the pages now
            update = learner.next_update(self.now, has_changed or not is_waiting(learner))
        if update is not None:
            update.judge = name
            learner.adopt(update)
            self.new_events.append(update)
        self.count_widths = count_widths(learner)
        return learner.threshold, learner.relevances_now()

    def _with_labels(self, topic: Judge) -> tuple[Learner, Learner]:
        labelled = with_labels(topic)
        return labelled, LanguageJudge(labelled) if self.options.languages else labelled

    def _restore(self, learner: Learner, name: str) -> int:
        """Restore the judge; return the snapshot's last event or 0. After StateMismatch the judge is unusable."""
        key, snapshots = learning_key(self.options, name), Snapshots(self.collection.path)

        def fits(facts: About) -> bool:
            is_current = facts["code"] == code_digest() and facts.get("judge") == key
            return is_current and bool(self.log.chain(facts["seq"]) == facts["log"])

        try:
            check(learner)
        except StateMismatch:  # it has no restorable state, so it learns from the whole log
            return 0
        snapshot = snapshots.read(fits, lambda names: names[:2] == ("engine", "judge"))
        if snapshot is None:
            return 0
        with snapshots.restoring():
            restore(learner, snapshot[1]["engine"]["judge"])
        return int(snapshot[0]["seq"])

    def _fold(self, learner: Learner, name: str, reader: _ArchiveJudge | None, after: int) -> None:
        update: ModelUpdate | None = None
        for event in self._sampled() if self.sample_of else (event for _, event in self.log.events(after)):
            if isinstance(event, ModelUpdate):
                update = event if event.judge == name else update
            elif isinstance(event, Visit):
                if update is not None:  # only the last of several updates without a page in between matters
                    learner.adopt(update)
                    update = None
                learner.learn(event if reader is None else reader.read(event))
            elif isinstance(event, Label):
                learner.add_label(event)
            elif isinstance(event, Seed):
                learner.start(event)
        if update is not None:
            learner.adopt(update)

    def _sampled(self) -> Iterator[Event]:
        """Yield the events to learn from a sample: all words by number, seeds and labels, and the sampled visits."""
        yield Visit("", "probe", "ok", 0, terms=Terms(new=LoggedWords(self.log).words))
        yield from self.log.seeds()
        yield from self.log.labels()
        for _, visit in self.collection.visits(self.seqs):
            visit.terms.new = []
            yield visit

    def _learned(self) -> dict[str, Any]:
        """Return the terms learned from example pages or read from a file; read new examples."""
        options, previous = self.options, self.collection.options
        before: dict[str, Any] = self.log.setting("learned", {})
        is_same = (options.examples, options.terms) == (previous.examples, previous.terms)
        is_same = is_same and judge_name(options) == judge_name(previous)
        if not options.examples or (is_same and before):
            return before if options.examples or options.terms else {}
        learned = learn_examples(judge_name(options), [self._example(name) for name in options.examples])
        self.new_events.append(Setting("learned", learned, self.now))
        return learned

    def _example(self, name: str) -> Page:
        for node in spellings(name):
            visit = self.collection.versions.last(node)
            if visit is not None:
                return page_of(self.collection, visit)
        if "//" in name and not Path(name).exists():
            message = f"{name} is not among the pages of {self.collection.path}, and judging fetches nothing"
            raise InputError("unknown-page", f"{message}: give a page of the crawl, or a file")
        return read_example_page(name)

    def _compared(self) -> JudgingResult:
        is_counted, new_threshold, previous = self.is_counted, self.threshold, self.collection.threshold
        if len(self.relevances_now) != len(is_counted):
            counts = f"{len(self.relevances_now)} relevances for {len(is_counted)} pages"
            raise InputError("bad-judge", f"the judge returned {counts}: see lycosa.checks.check_judge")
        relevances_now = np.asarray(self.relevances_now, float)
        pages = len(self.seqs) if self.sample_of else next(self.log.query("SELECT COUNT(*) FROM page"))[0]
        before, after = self.before >= previous, relevances_now >= new_threshold
        gained, lost = np.flatnonzero(is_counted & after & ~before), np.flatnonzero(is_counted & before & ~after)
        counted = np.flatnonzero(is_counted)
        nearest = counted[by_uncertainty(relevances_now[counted], new_threshold, self.probability)]
        return JudgingResult(
            judge_name(self.options),
            estimate(
                self.before[is_counted],
                previous,
                pages,
                self.collection.probability,
                read_widths(self.log.count_widths()),
            ),
            estimate(relevances_now[is_counted], new_threshold, pages, self.probability, self.count_widths),
            previous,
            new_threshold,
            len(gained),
            self._pages(gained[np.argsort(-relevances_now[gained], kind="stable")][:PAGES_PER_LIST]),
            len(lost),
            self._pages(lost[np.argsort(-self.before[lost], kind="stable")][:PAGES_PER_LIST]),
            self._pages(nearest[:PAGES_PER_LIST]),
            sample_of=self.sample_of,
        )

    def _pages(self, places: Sequence[int] | NDArray[np.intp]) -> list[RejudgedPage]:
        visits = ((place, self.log.visit(self.seqs[place])) for place in places)
        return [
            RejudgedPage(visit.node, visit.title, float(self.before[place]), float(self.relevances_now[place]))
            for place, visit in visits
        ]

    def keep(self, opened: Directory) -> None:
        """Store the result in the log and the crawl's options."""
        # Readers detect new relevances by this event.
        if not self.new_events or self.log.setting("threshold", None) != self.threshold:
            self.new_events.append(Setting("threshold", self.threshold, self.now))
        if self.log.setting("probability", False) != self.probability:
            self.new_events.append(Setting("probability", self.probability, self.now))
        with self.log.batch():
            for event in self.new_events:
                self.log.append(event)
            self.log.store_relevances(np.asarray(self.relevances_now))
        if vars(opened.options) != vars(self.options):
            opened.options = self.options
            opened.save()
        self.judged.kept = True


class _ArchiveJudge:
    """Adapter that applies a judge to archived pages, for judges that need the content of pages."""

    def __init__(self, collection: CrawlDirectory, judge: Judge) -> None:
        self.collection, self.judge = collection, judge
        languages = collection.options.languages
        self.words = Vocabulary(languages[0] if languages else "en")

    def read(self, visit: Visit) -> Visit:
        """Return the visit as this judge would have recorded it."""
        if not visit.is_version:
            return visit
        page = page_of(self.collection, visit)
        reading = self.words.read(page)
        relevance = float(self.judge.judge(page, reading).relevance)
        seen = replace(visit, terms=reading.terms, relevance=relevance if np.isfinite(relevance) else 0.0)
        self.words.learn(seen)
        return seen


def page_of(collection: CrawlDirectory, visit: Visit) -> Page:
    """Return a page parsed from its archived bytes."""
    if not visit.place.file:
        message = f"{visit.node} is not archived (--no-archive), and this judge has to read it again"
        raise InputError("no-archive", f"{message}: choose one that learns, such as --judge {DEFAULT}")
    exchange = collection.exchange(visit)
    page = collection.document(visit, exchange).page()
    if exchange is not None:
        page.source = partial(source_of, exchange)
    page.node, page.flags, page.data = visit.node, visit.flags, visit.data
    page.language = page.language or visit.language
    return page
