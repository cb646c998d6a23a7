"""Precision and recall of change detectors on pairs of page versions with known changes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from random import Random

from lycosa.core.types import Page, Visit
from lycosa.judges.vector_judge import VectorJudge
from lycosa.revisit.detectors import DETECTORS, detector, judge_change
from lycosa.revisit.snapshot import Snapshot
from lycosa.testweb.changing import ChangingWeb
from lycosa.text.vocabulary import Vocabulary
from lycosa.version import SOFTWARE
from lycosa.web.html import read_body
from lycosa_lab.papers import cached
from lycosa_lab.papers.freshness.revisit_trials import FreshnessScenario

DAY, HOUR = 86_400.0, 3600.0
DEFAULT = "default"
NAMES = (*DETECTORS, DEFAULT)


@dataclass
class Pair:
    """Two versions of a page; `real` is true if it had a real change between them."""

    old: Snapshot
    new: Snapshot
    real: bool


class DetectionReader:
    """Reader that parses pages as a crawl does, and judges them by the words of their first topic."""

    def __init__(self, web: ChangingWeb) -> None:
        self.web = web
        self.words = Vocabulary()
        self.topics: dict[str, VectorJudge] = {}
        self.pages = list(web.urls())
        # learn word frequencies from a sample of the pages
        for number in range(0, len(self.pages), max(1, len(self.pages) // 200)):
            reading = self.words.read(self._page(number, web.start)[0])
            self.words.learn(Visit(self.pages[number], "page", "ok", 1, terms=reading.terms))

    def there(self, number: int, *times: float) -> bool:
        return all(self.web.status(self.pages[number], t) == "there" for t in times)

    def snapshot(self, number: int, t: float, fetched: int) -> Snapshot:
        url = self.pages[number]
        page, body, kind = self._page(number, t, fetched)
        topic_name = self.web.topic(url, self.web.start) or self.web.topics[0]
        topic = self.topics.setdefault(topic_name, VectorJudge(self.web.query(topic_name)))
        reading = self.words.read(page)
        return Snapshot(
            url, body, kind, page.title, page.text, page.links.urls, reading.simhash,
            topic.judge(page, reading).relevance, topic.threshold,
        )  # fmt: skip

    def _page(self, number: int, t: float, fetched: int = 0) -> tuple[Page, bytes, str]:
        url = self.pages[number]
        reply = self.web.response_at(url, t, version=fetched)
        kind = next((value for name, value in reply.headers if name.lower() == "content-type"), "")
        return read_body(reply.body, url, kind).fill(Page("ok")), reply.body, kind


def draw_pairs(web: ChangingWeb, count: int, seed: int, days: float = 30.0) -> list[Pair]:
    """Return random pairs of versions of a page, an hour to a week apart."""
    reader, rng = DetectionReader(web), Random(seed + 1)

    def draw() -> Iterator[Pair]:
        while True:
            number = rng.randrange(len(reader.pages))
            gap = HOUR * (7 * DAY / HOUR) ** rng.random()
            before = web.start + rng.random() * (days * DAY - gap)
            after = before + gap
            if reader.there(number, before, after):
                changes = web.changes(reader.pages[number], before, after)
                old, new = reader.snapshot(number, before, 0), reader.snapshot(number, after, 1)
                yield Pair(old, new, any(change.real for change in changes))

    return list(islice(draw(), count))


@dataclass
class Detection:
    """Outcomes of a detector on pairs of versions: (real change, reported change). Two of these three are real:

    >>> Detection([(True, True), (True, False), (False, True)]).scores
    (0.5, 0.5, 0.5)
    """

    outcomes: list[tuple[bool, bool]]

    def count(self, real: bool, seen: bool) -> int:
        return sum(one == (real, seen) for one in self.outcomes)

    @property
    def scores(self) -> tuple[float | None, float | None, float]:
        """Precision, recall and F1, their harmonic mean; None if a denominator is 0."""
        hits, alarms, misses = self.count(True, True), self.count(False, True), self.count(True, False)
        return (
            hits / (hits + alarms) if hits + alarms else None, hits / (hits + misses) if hits + misses else None,
            2 * hits / max(1, 2 * hits + alarms + misses),
        )  # fmt: skip


def reports_change(name: str, old: Snapshot, new: Snapshot) -> bool:
    """Return whether a detector (or the default combination) reports a change that is not cosmetic."""
    if name == DEFAULT:
        change = judge_change(old, new)
        return change is not None and change.kind != "cosmetic"
    verdict = detector(name)(old, new)
    return verdict is not None and verdict.changed and verdict.kind != "cosmetic"


def detect(pairs: Sequence[Pair]) -> dict[str, Detection]:
    return {
        name: Detection([(pair.real, reports_change(name, pair.old, pair.new)) for pair in pairs]) for name in NAMES
    }


def detect_world(world: FreshnessScenario, count: int, out: Path) -> dict[str, Detection]:
    def judge() -> dict[str, list[tuple[bool, bool]]]:
        return {
            name: one.outcomes for name, one in detect(draw_pairs(world.grow(), count, world.seed, world.days)).items()
        }

    outcomes_by_name = cached(out / "detections" / f"{world.key}-{count}.json", {"software": SOFTWARE}, judge)
    return {name: Detection([(real, seen) for real, seen in outcomes]) for name, outcomes in outcomes_by_name.items()}


def pooled(by_web: Sequence[dict[str, Detection]]) -> dict[str, Detection]:
    return {name: Detection([pair for web in by_web for pair in web[name].outcomes]) for name in NAMES}
