"""How well each detector tells a real change from a cosmetic one, on pairs of versions between which it is known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from random import Random

from lycosa.core.types import Page, Visit
from lycosa.lab.papers import kept
from lycosa.lab.papers.freshness.watching import World
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
EDITS = tuple(KINDS)  # real changes
SORTS = (*COSMETICS, COUNTER)  # cosmetic changes: of pages, and counters
DEFAULT = "default"
NAMES = (*DETECTORS, DEFAULT)


@dataclass
class Pair:
    """Two versions, and what happened: one edit by name, or at a drawn time whatever came between."""

    old: Snapshot
    new: Snapshot
    what: str
    real: bool


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

    def there(self, number: int, *times: float) -> bool:
        """Return whether the page is at its first address at all these times."""
        return all(self.web.status(self.pages[number], t) == "there" for t in times)

    def pair(self, number: int, before: float, after: float, what: str, real: bool) -> Pair:
        return Pair(self._snapshot(number, before, 0), self._snapshot(number, after, 1), what, real)

    def _snapshot(self, number: int, t: float, fetched: int) -> Snapshot:
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
        return read_body(reply.body, url, kind).fill(Page("ok")), reply.body, kind


def single(web: ChangingWeb, each: int, seed: int, days: float = 30.0) -> list[Pair]:
    """Return pairs with one edit between them, `each` of every sort."""
    reader, rng = Reader(web), Random(seed)
    numbers = list(range(len(reader.pages)))
    rng.shuffle(numbers)
    by_edit: dict[str, list[Pair]] = {what: [] for what in (*EDITS, *SORTS)}
    for number in numbers:
        for what, before, after in _between(web, number, web.start + days * DAY, rng):
            if len(by_edit[what]) < each and reader.there(number, before, after):
                by_edit[what].append(reader.pair(number, before, after, what, what in KINDS))
        if all(len(pairs) >= each for pairs in by_edit.values()):
            break
    return [pair for pairs in by_edit.values() for pair in pairs]


def _between(web: ChangingWeb, number: int, end: float, rng: Random) -> Iterator[tuple[str, float, float]]:
    """The edits of a page, at most two of a sort, each with a time before and one after it and no other between."""
    subject = Subject(number, 0, web.history.graph.topic(number))
    moving = web.history.process(*subject.key).moving
    edits: list[Edit] = list(web.history.edits(subject, end))
    times = [web.history.when(edit.at) for edit in edits]
    taken: Counter[str] = Counter()
    for place, (edit, at) in enumerate(zip(edits, times, strict=True)):
        since = at - times[place - 1] if place else HOUR
        until = times[place + 1] - at if place + 1 < len(times) else HOUR
        if min(since, until) > 2.0 and taken[edit.how] < 2 and not moving:
            taken[edit.how] += 1
            yield edit.how, at - min(since, HOUR) / 2, at + min(until, HOUR) / 2
    calm = (web.start + rng.random() * (end - web.start - HOUR) for _ in range(5))
    quiet = (t for t in calm if not any(t - 1.0 < at < t + HOUR + 1.0 for at in times))
    if (t := next(quiet, 0.0)) and moving:
        yield COUNTER, t, t + HOUR


def drawn(web: ChangingWeb, count: int, seed: int, days: float = 30.0) -> list[Pair]:
    """Return pairs as a watch has them: any page, from an hour to a week apart, whatever came between."""
    reader, rng = Reader(web), Random(seed + 1)

    def draw() -> Iterator[Pair]:
        while True:
            number = rng.randrange(len(reader.pages))
            gap = HOUR * (7 * DAY / HOUR) ** rng.random()
            before = web.start + rng.random() * (days * DAY - gap)
            after = before + gap
            if reader.there(number, before, after):
                changes = web.changes(reader.pages[number], before, after)
                yield reader.pair(number, before, after, "", any(change.real for change in changes))

    return list(islice(draw(), count))


@dataclass
class Detection:
    """What a detector said of pairs: for each what was done (empty: drawn at any time), if it was real, and the kind.

    The kind that it saw is cosmetic where it saw nothing that matters. Of drawn pairs by hand, 2 real, 1 cosmetic:

    >>> one = Detection([("", True, "text"), ("", True, "cosmetic"), ("", False, "text"), ("stamp", False, "cosmetic")])
    >>> one.scores, one.counts(["stamp"])
    ((0.5, 0.5, 0.5), (1, 0, 0))
    """

    said: list[tuple[str, bool, str]]

    def drawn(self, real: bool, seen: bool) -> int:
        return sum(not what and was == real and (kind != "cosmetic") == seen for what, was, kind in self.said)

    @property
    def scores(self) -> tuple[float | None, float | None, float]:
        """Precision: hits / (hits + alarms); recall: hits / (hits + misses); F1: the harmonic mean of the two."""
        hits, alarms, misses = self.drawn(True, True), self.drawn(False, True), self.drawn(True, False)
        return (
            hits / (hits + alarms) if hits + alarms else None, hits / (hits + misses) if hits + misses else None,
            2 * hits / max(1, 2 * hits + alarms + misses),
        )  # fmt: skip

    def counts(self, edits: Sequence[str]) -> tuple[int, int, int]:
        """Of pairs with one of these edits: how many, how many taken for real, and how many for their kind."""
        kinds = [(KINDS.get(what, "cosmetic"), kind) for what, _, kind in self.said if what in edits]
        real = [(own, kind) for own, kind in kinds if kind != "cosmetic"]
        return len(kinds), len(real), sum(own == kind for own, kind in real)


def says(name: str, old: Snapshot, new: Snapshot) -> str:
    """Return the kind of change that a detector (or the default ones together) sees; cosmetic if none that matters."""
    if name == DEFAULT:
        change = judge_change(old, new)
        return change.kind if change is not None else "cosmetic"
    verdict = detector(name)(old, new)
    return verdict.kind if verdict is not None and verdict.changed else "cosmetic"


def detect(pairs: Sequence[Pair]) -> dict[str, Detection]:
    """Let every detector judge all pairs."""
    return {
        name: Detection([(pair.what, pair.real, says(name, pair.old, pair.new)) for pair in pairs]) for name in NAMES
    }


def detect_world(world: World, each: int, count: int, out: Path) -> dict[str, Detection]:
    """Draw pairs of a web and let all detectors judge them; what was judged before is read."""

    def judge() -> dict[str, list[tuple[str, bool, str]]]:
        web = world.grow()
        pairs = [*single(web, each, world.seed, world.days), *drawn(web, count, world.seed, world.days)]
        return {name: one.said for name, one in detect(pairs).items()}

    made = kept(out / "detections" / f"{world.key}-{each}-{count}.json", {"software": SOFTWARE}, judge)
    return {name: Detection([(what, real, kind) for what, real, kind in said]) for name, said in made.items()}


def pooled(by_web: Sequence[dict[str, Detection]]) -> dict[str, Detection]:
    return {name: Detection([pair for web in by_web for pair in web[name].said]) for name in NAMES}
