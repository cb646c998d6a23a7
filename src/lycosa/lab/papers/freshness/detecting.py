"""How well each detector tells a real change from a cosmetic one, on pairs of versions between which it is known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, astuple, dataclass, field
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

from lycosa.core.types import Page, Visit
from lycosa.lab.papers import kept
from lycosa.lab.papers.freshness.watching import World
from lycosa.refresh.change import KINDS as GRAVITY
from lycosa.refresh.detectors import DETECTORS, detector, judge_change
from lycosa.refresh.snapshot import Snapshot
from lycosa.testing.change_history import COSMETICS, KINDS, Edit, Subject
from lycosa.testing.changing import ChangingWeb
from lycosa.text.vocabulary import Vocabulary
from lycosa.topics.query import Query
from lycosa.version import SOFTWARE
from lycosa.web.html import read_body

DAY, HOUR = 86_400.0, 3600.0
COUNTER = "counter"
SORTS = (*COSMETICS, COUNTER)  # cosmetic changes: of pages, and counters

EDITS = tuple(KINDS)  # real changes

# Days between two versions drawn at any time.
_SHORTEST, _LONGEST = 1 / 24, 7.0


@dataclass
class Pair:
    """Two versions, and what happened: one edit by name, or at a drawn time whatever came between."""

    old: Snapshot
    new: Snapshot
    what: str
    real: bool

    @property
    def kind(self) -> str:
        return KINDS.get(self.what, "cosmetic")


class Reader:
    """Reads pages as a crawl does, and judges them by the words of their first topic."""

    def __init__(self, web: ChangingWeb) -> None:
        self.web = web
        self.words = Vocabulary()
        self.topics: dict[str, Query] = {}
        self.pages = list(web.urls())
        for number in range(0, len(self.pages), max(1, len(self.pages) // 200)):  # how rare words are, as a crawl
            reading = self.words.read(self._page(number, web.start)[0])
            self.words.learn(Visit(self.pages[number], "page", "ok", 1, terms=reading.terms))

    def subject(self, number: int) -> Subject:
        """The page, as its history knows it."""
        return Subject(number, 0, self.web.history.graph.topic(number))

    def there(self, number: int, *times: float) -> bool:
        """Whether the page is at its first address at all these times."""
        return all(self.web.status(self.pages[number], t) == "there" for t in times)

    def snapshot(self, number: int, t: float, fetched: int = 0) -> Snapshot:
        """The page as it is at a time, fetched so many times before."""
        url = self.pages[number]
        page, body, kind = self._page(number, t, fetched)
        about = self.web.topic(url, self.web.start) or self.web.topics[0]
        topic = self.topics.setdefault(about, Query(self.web.query(about)))
        reading = self.words.read(page)
        return Snapshot(
            url, body, kind, page.title, page.text, page.links.urls, reading.simhash,
            topic.judge(page, reading).beta, topic.threshold,
        )  # fmt: skip

    def _page(self, number: int, t: float, fetched: int = 0) -> tuple[Page, bytes, str]:
        url = self.pages[number]
        reply = self.web.response_at(url, t, version=fetched)
        kind = next((value for name, value in reply.headers if name.lower() == "content-type"), "")
        document = read_body(reply.body, url, kind)
        return document.fill(Page("ok")), reply.body, kind


def single(web: ChangingWeb, each: int, seed: int, days: float = 30.0) -> list[Pair]:
    """Pairs with one edit between them, `each` of every sort."""
    reader, rng = Reader(web), Random(seed)
    numbers = list(range(len(reader.pages)))
    rng.shuffle(numbers)
    by_edit: dict[str, list[Pair]] = {what: [] for what in (*EDITS, *SORTS)}
    for number in numbers:
        for what, before, after in _between(reader, number, web.start + days * DAY, rng):
            if len(by_edit[what]) < each and reader.there(number, before, after):
                old, new = reader.snapshot(number, before), reader.snapshot(number, after, 1)
                by_edit[what].append(Pair(old, new, what, what in KINDS))
        if all(len(pairs) >= each for pairs in by_edit.values()):
            break
    return [pair for pairs in by_edit.values() for pair in pairs]


def _between(reader: Reader, number: int, end: float, rng: Random) -> Iterator[tuple[str, float, float]]:
    """What happens to a page, at most two of a sort, and a time before and one after each."""
    web, subject = reader.web, reader.subject(number)
    process = web.history.process(*subject.key)
    marks: list[Edit] = list(web.history.edits(subject, end))
    times = [web.history.when(edit.at) for edit in marks]
    taken: Counter[str] = Counter()
    for edit, (before, after) in zip(marks, _gaps(times), strict=True):
        if before and taken[edit.how] < 2 and not process.moving:
            taken[edit.how] += 1
            yield edit.how, before, after
    calm = _calm(times, rng, web.start, end)
    if calm and process.moving:
        yield COUNTER, calm, calm + HOUR


def _gaps(times: list[float]) -> Iterator[tuple[float, float]]:
    """For each time one before and one after it, with no other between; none (0) where others are too near."""
    for place, at in enumerate(times):
        before = times[place - 1] if place else at - HOUR
        after = times[place + 1] if place + 1 < len(times) else at + HOUR
        near = min(at - before, after - at) <= 2.0
        yield (0.0, 0.0) if near else (at - min(at - before, HOUR) / 2, at + min(after - at, HOUR) / 2)


def _calm(times: list[float], rng: Random, start: float, end: float) -> float:
    """A time after which nothing happens for an hour; 0 if none was found."""
    for _ in range(5):
        t = start + rng.random() * (end - start - HOUR)
        if not any(t - 1.0 < at < t + HOUR + 1.0 for at in times):
            return t
    return 0.0


def drawn(web: ChangingWeb, count: int, seed: int, days: float = 30.0) -> list[Pair]:
    """Pairs as a watch has them: any page, from an hour to a week apart, whatever came between."""
    reader, rng = Reader(web), Random(seed + 1)

    def draw() -> Iterator[Pair]:
        while True:
            number = rng.randrange(len(reader.pages))
            gap = _SHORTEST * (_LONGEST / _SHORTEST) ** rng.random() * DAY
            before = web.start + rng.random() * (days * DAY - gap)
            after = before + gap
            url = reader.pages[number]
            if not reader.there(number, before, after):
                continue
            real = any(change.real for change in web.changes(url, before, after))
            yield Pair(reader.snapshot(number, before), reader.snapshot(number, after, 1), "", real)

    return list(islice(draw(), count))


# -- what detectors say of them ---------------------------------------------------------------------------------------

DEFAULT = "default"
NAMES = (*DETECTORS, DEFAULT)
REAL = tuple(kind for kind in GRAVITY if kind != "cosmetic")


@dataclass
class Score:
    """Counts of pairs by what a detector said of them: true and false, positive and negative."""

    hits: int = 0
    alarms: int = 0
    misses: int = 0
    passes: int = 0

    @property
    def precision(self) -> float | None:
        """Of what it took for real, what was: hits / (hits + alarms). None if it took nothing for real.

        >>> Score(hits=6, alarms=2, misses=4).precision, Score(misses=1).precision
        (0.75, None)
        """
        return self.hits / (self.hits + self.alarms) if self.hits + self.alarms else None

    @property
    def recall(self) -> float | None:
        """Of what was real, what it took for it: hits / (hits + misses)."""
        return self.hits / (self.hits + self.misses) if self.hits + self.misses else None

    @property
    def f1(self) -> float:
        """2 hits / (2 hits + alarms + misses): the harmonic mean of the two.

        >>> round(Score(hits=6, alarms=2, misses=4).f1, 4)                  # 2 * .75 * .6 / 1.35 = 12 / 18
        0.6667
        """
        return 2 * self.hits / max(1, 2 * self.hits + self.alarms + self.misses)


@dataclass
class Detection:
    drawn: Score = field(default_factory=Score)  # of pairs drawn at any time
    edits: dict[str, list[int]] = field(default_factory=dict)
    """By what was done, real or cosmetic: how many pairs, how many were taken for real, and how many for its kind."""

    def by_kind(self) -> dict[str, list[int]]:
        """The counts of real edits by the kind that they are of."""
        counts: dict[str, list[int]] = {kind: [0, 0, 0] for kind in REAL}
        for what in EDITS:
            counts[KINDS[what]] = _added(counts[KINDS[what]], self.edits.get(what))
        return counts


def _added(count: list[int], more: list[int] | None) -> list[int]:
    return [a + b for a, b in zip(count, more or [0, 0, 0], strict=True)]


def says(name: str, old: Snapshot, new: Snapshot) -> str:
    """Return the kind of change that a detector (or the default ones together) sees; cosmetic if none that matters."""
    if name == DEFAULT:
        change = judge_change(old, new)
        return change.kind if change is not None else "cosmetic"
    verdict = detector(name)(old, new)
    return verdict.kind if verdict is not None and verdict.changed else "cosmetic"


def detect(pairs: Sequence[Pair], of_drawn: Sequence[Pair]) -> dict[str, Detection]:
    """Let every detector judge all pairs."""
    made: dict[str, Detection] = {}
    for name in NAMES:
        one = made[name] = Detection()
        for pair in (*pairs, *of_drawn):
            kind = says(name, pair.old, pair.new)
            real = kind != "cosmetic"
            if pair.what:
                count = one.edits.setdefault(pair.what, [0, 0, 0])
                count[0] += 1
                count[1] += real
                count[2] += real and kind == pair.kind
            else:
                score = one.drawn
                score.hits += pair.real and real
                score.alarms += real and not pair.real
                score.misses += pair.real and not real
                score.passes += not pair.real and not real
    return made


def detect_world(world: World, each: int, count: int, out: Path) -> dict[str, Detection]:
    """Draw pairs of a web and let all detectors judge them; what was judged before is read."""

    def judge() -> dict[str, Any]:
        web = world.grow()
        pairs = single(web, each, world.seed, world.days), drawn(web, count, world.seed, world.days)
        return {name: asdict(one) for name, one in detect(*pairs).items()}

    made = kept(out / "detections" / f"{world.key}-{each}-{count}.json", {"software": SOFTWARE}, judge)
    return {name: Detection(Score(**one["drawn"]), one["edits"]) for name, one in made.items()}


def pooled(by_web: Sequence[dict[str, Detection]]) -> dict[str, Detection]:
    """Several webs as one: counts are added."""
    made: dict[str, Detection] = {}
    for name in NAMES:
        every = [webs[name] for webs in by_web]
        one = made[name] = Detection(Score(*map(sum, zip(*(astuple(each.drawn) for each in every), strict=True))))
        for each in every:
            for what, count in each.edits.items():
                one.edits[what] = _added(count, one.edits.get(what))
    return made
