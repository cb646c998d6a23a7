"""How well each detector tells a real change from a cosmetic one: precision, recall, false alarms, time."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from statistics import median
from time import perf_counter

from lycosa.lab.papers.freshness.pairs import EDITS, SORTS, Pair, drawn, single
from lycosa.lab.papers.freshness.watching import World
from lycosa.refresh.change import KINDS
from lycosa.refresh.detectors import DETECTORS, detector, judge_change
from lycosa.refresh.snapshot import Snapshot
from lycosa.version import SOFTWARE

DEFAULT = "default"
NAMES = (*DETECTORS, DEFAULT)


@dataclass
class Score:
    """What a detector said of pairs: true and false, positive and negative."""

    hits: int = 0
    alarms: int = 0
    misses: int = 0
    passes: int = 0

    def add(self, real: bool, said: bool) -> None:
        """One pair."""
        self.hits += real and said
        self.alarms += said and not real
        self.misses += real and not said
        self.passes += not real and not said

    @property
    def precision(self) -> float | None:
        """Of what it took for real, what was: hits / (hits + alarms). None if it took nothing for real.

        >>> Score(hits=6, alarms=2, misses=4).precision, Score(misses=1).precision
        (0.75, None)
        """
        return self.hits / (self.hits + self.alarms) if self.hits + self.alarms else None

    @property
    def recall(self) -> float | None:
        """Of what was real, what it took for it: hits / (hits + misses).

        >>> Score(hits=6, alarms=2, misses=4).recall
        0.6
        """
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
    """What one detector said."""

    drawn: Score = field(default_factory=Score)
    """Of pairs drawn at any time."""
    edits: dict[str, list[int]] = field(default_factory=dict)
    """By what was done, real or cosmetic: how many pairs, how many were taken for real, and how many for its kind."""
    milliseconds: float = 0.0


def says(name: str, old: Snapshot, new: Snapshot) -> str:
    """The kind of change that a detector sees, the default ones together or one alone; cosmetic if none that matters.

    What a detector reads of a version is computed anew each time, so that the time is its own.
    """
    before, after = replace(old), replace(new)
    if name == DEFAULT:
        change = judge_change(before, after)
        return change.kind if change is not None else "cosmetic"
    verdict = detector(name)(before, after)
    return verdict.kind if verdict is not None and verdict.changed else "cosmetic"


def detect(pairs: Sequence[Pair], of_drawn: Sequence[Pair]) -> dict[str, Detection]:
    """What every detector says of all pairs."""
    made: dict[str, Detection] = {}
    for name in NAMES:
        one = made[name] = Detection()
        took = []
        for pair in (*pairs, *of_drawn):
            began = perf_counter()
            kind = says(name, pair.old, pair.new)
            if pair.old.body != pair.new.body:  # else there is nothing to compare
                took.append(perf_counter() - began)
            real = kind != "cosmetic"
            if pair.what:
                count = one.edits.setdefault(pair.what, [0, 0, 0])
                count[0] += 1
                count[1] += real
                count[2] += real and kind == pair.kind
            else:
                one.drawn.add(pair.real, real)
        one.milliseconds = 1000 * median(took) if took else 0.0
    return made


def detect_world(world: World, each: int, count: int, out: Path) -> dict[str, Detection]:
    """Draw pairs of a web and let all detectors judge them; what was judged before is read."""
    path = out / "detections" / f"{world.key}-{each}-{count}.json"
    if path.is_file():
        told = json.loads(path.read_text(encoding="utf-8"))
        if told["software"] == SOFTWARE:
            return {
                name: Detection(Score(**one["drawn"]), one["edits"], one["milliseconds"])
                for name, one in told["found"].items()
            }
    web = world.grow()
    made = detect(single(web, each, world.seed, world.days), drawn(web, count, world.seed, world.days))
    path.parent.mkdir(parents=True, exist_ok=True)
    told = {"software": SOFTWARE, "found": {name: asdict(one) for name, one in made.items()}}
    path.write_text(json.dumps(told), encoding="utf-8")
    return made


def pooled(found: Sequence[dict[str, Detection]]) -> dict[str, Detection]:
    """Several webs as one: counts are added; times are the mean of medians."""
    made: dict[str, Detection] = {}
    for name in NAMES:
        one = made[name] = Detection()
        for other in (webs[name] for webs in found):
            score = other.drawn
            one.drawn = Score(
                one.drawn.hits + score.hits, one.drawn.alarms + score.alarms, one.drawn.misses + score.misses,
                one.drawn.passes + score.passes,
            )  # fmt: skip
            for what, count in other.edits.items():
                one.edits[what] = [a + b for a, b in zip(one.edits.get(what, [0, 0, 0]), count, strict=True)]
            one.milliseconds += other.milliseconds / len(found)
    return made


def by_kind(one: Detection, kinds: dict[str, str]) -> dict[str, list[int]]:
    """The counts of real edits by the kind that they are of."""
    made: dict[str, list[int]] = {kind: [0, 0, 0] for kind in KINDS if kind != "cosmetic"}
    for what in EDITS:
        if what in one.edits:
            made[kinds[what]] = [a + b for a, b in zip(made[kinds[what]], one.edits[what], strict=True)]
    return made


__all__ = ["DEFAULT", "NAMES", "SORTS", "Detection", "Score", "by_kind", "detect", "detect_world", "pooled", "says"]
