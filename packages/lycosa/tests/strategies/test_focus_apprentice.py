"""Tests of the apprentice: training, and storage of features."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest

from lycosa.core.table import Table
from lycosa.core.types import Links, Visit
from lycosa.strategies.focus import CHUNK, FAR, MAX_FEATURES, NEAR, Apprentice


class Trial:
    """Apprentice and table, with helpers that feed training pages."""

    def __init__(self, **parameters: Any) -> None:
        self.apprentice, self.table = Apprentice(**parameters), Table()
        self.table.add_seed("0")

    def page(self, node: str, beta: float, links: dict[str, str] | None = None, **more: Any) -> list[str]:
        """Feed a page with links given by name and context, in which brackets mark the anchor."""
        links = links or {}
        anchors = [text.partition("[")[2].partition("]")[0] for text in links.values()]
        column = Links.to(*links, anchors=anchors)
        column.contexts = [text.replace("[", "").replace("]", "") for text in links.values()]
        visit = Visit(
            node, more.pop("kind", "page"), more.pop("outcome", "ok"), 1, relevance=beta, links=column, **more
        )
        step = self.table.absorb(visit)
        assert step is not None
        return [self.table.nodes[row] for row in self.apprentice.learn(step, self.table).tolist()]

    def evidence(self, *nodes: str) -> list[float]:
        """Return the estimates of some nodes."""
        rows = np.array([self.table.row_of[node] for node in nodes], np.int32)
        return list(self.apprentice.probability(rows, self.table).tolist())

    @property
    def kept(self) -> int:
        """Return the number of rows with stored features."""
        return int(np.count_nonzero(self.apprentice.slot_))


@pytest.mark.paper("batsakis-two-classifiers")
def test_probability_by_hand() -> None:
    """Odds of a link are the product of the ratios of its words; the prior's log odds are 0, as p = 1/2.

    Trained with .9 (coral) and .1 (train), strength 2: coral (.9 + 2 * .5) / (.1 + 2 * .5) = 1.9 / 1.1, train 1.1 /
    1.9, a link with both 1. Node names are digits, which are not words, so URLs have no features.
    """
    trial = Trial(least=1)
    trial.page("0", 0.0, {"1": "[coral]", "2": "[train]"})
    trial.page("1", 0.9)
    assert math.isnan(*trial.evidence("2"))
    trial.page("2", 0.1)
    trial.table.add_seed("3")
    trial.page("3", 0.0, {"4": "[coral]", "5": "[train]", "6": "[coral train]", "7": "[boat]"})
    odds = 1.9 / 1.1
    assert pytest.approx([odds / (1 + odds), 1 / (1 + odds), 0.5, 0.5]) == trial.evidence("4", "5", "6", "7")


def stream(trial: Trial, pages: int, chance: random.Random) -> None:
    """Feed pages with ten links each; links with the word `bleach` in the anchor lead to relevant pages."""
    words = "about contact news more read page next archive week year list item".split()
    number = 10
    trial.table.add_seed("0")
    hub = "0"
    for _ in range(pages):
        links = {}
        for n in range(10):
            around = " ".join(chance.choices(words, k=6))
            anchor = " ".join(chance.choices(words, k=2)) + (" bleaching" if n % 3 == 0 else "")
            links[str(number + n)] = f"{around} [{anchor}] {around}"
        trial.page(hub, 0.3, links)
        for n in range(9):  # the tenth page is the next hub
            trial.page(str(number + n), chance.uniform(0.6, 0.9) if n % 3 == 0 else chance.uniform(0, 0.2))
        hub = str(number + 9)
        number += 10


def test_learns_which_links_to_follow() -> None:
    """After 20 pages, links with the word that led to good pages rank above all other links of their page."""
    trial = Trial()
    stream(trial, 20, random.Random(4))
    trial.table.add_seed("1")
    names = "about bleaching", "next week", "more bleaching", "contact", "archive"
    trial.page("1", 0.3, {str(9000 + n): f"list [{name}] item" for n, name in enumerate(names)})
    evidence = trial.evidence(*(str(9000 + n) for n in range(5)))
    assert min(evidence[0], evidence[2]) > max(evidence[1], evidence[3], evidence[4])


def test_probability_is_nan_before_training() -> None:
    trial = Trial()
    trial.page("0", 0.3, {"1": "[bleaching]", "2": "[contact]"})
    assert all(map(math.isnan, trial.evidence("1", "2")))
    assert not trial.apprentice.is_ready


@pytest.mark.parametrize("beta", [0.0, 1.0])
def test_training_needs_good_and_bad_pages(beta: float) -> None:
    trial = Trial(least=2)
    trial.page("0", 0.3, {str(n): "[coral]" for n in range(1, 30)})
    for n in range(1, 29):
        trial.page(str(n), beta)
    assert not trial.apprentice.is_ready
    assert all(map(math.isnan, trial.evidence("29")))


def test_anchor_words_and_context_words_are_distinct() -> None:
    trial = Trial(least=1)
    trial.page("0", 0.0, {"1": "[coral]", "2": "[train]"})
    trial.page("1", 1.0), trial.page("2", 0.0)
    trial.table.add_seed("3")
    trial.page("3", 0.0, {"4": "[coral]", "5": "coral [boat]", "6": "coral reef fish [boat]", "7": "[boat]"})
    anchor, close, farther, nothing = trial.evidence("4", "5", "6", "7")
    assert anchor > nothing == close == farther


def test_near_and_far_words_are_distinct() -> None:
    trial = Trial(least=1)
    trial.page("0", 0.0, {"1": "coral [boat]", "2": "[train]"})
    trial.page("1", 1.0), trial.page("2", 0.0)
    trial.table.add_seed("3")
    trial.page("3", 0.0, {"4": "[ship] coral", "5": "coral fish crab [ship]", "6": "[ship]"})
    close, farther, nothing = trial.evidence("4", "5", "6")
    assert close > nothing == farther


def test_words_beyond_far_are_ignored() -> None:
    trial = Trial(least=1)
    far = " ".join(f"word{n}x" for n in range(FAR))
    trial.page("0", 0.0, {"1": f"coral {far} [boat] {far} coral", "2": "[boat]"})
    row, plain = (trial.apprentice.features_[trial.apprentice.slot_[n]] for n in (1, 2))
    # The words are the same on both sides: the first two and last two are near, and all are far; each counts once.
    assert 1 + 2 * NEAR + FAR == np.count_nonzero(row)
    assert 1 == np.count_nonzero(plain)


def test_words_of_url_are_features() -> None:
    trial = Trial(least=1)
    trial.page("0", 0.0, {"http://a.test/coral": "[1]", "http://a.test/train": "[2]"})
    trial.page("http://a.test/coral", 1.0), trial.page("http://a.test/train", 0.0)
    trial.table.add_seed("3")
    trial.page("3", 0.0, {"http://a.test/reef/coral.html": "[3]", "http://a.test/station/train.html": "[4]"})
    good, bad = trial.evidence("http://a.test/reef/coral.html", "http://a.test/station/train.html")
    assert good > bad


@pytest.mark.paper("rules-apprentice")
def test_class_of_page_is_feature() -> None:
    trial = Trial(least=1)
    sea, rail = {"classes": [["Top/Sea", 0.9]]}, {"classes": [["Top/Rail", 0.9]]}
    for node, data, beta in (("10", sea, 1.0), ("20", rail, 0.0)):
        trial.table.add_seed(node)
        trial.page(node, 0.5, {f"{node}1": "[more]"}, data=data)
        trial.page(f"{node}1", beta)
    for node, data in (("30", sea), ("40", rail)):
        trial.table.add_seed(node)
        trial.page(node, 0.5, {f"{node}1": "[next]"}, data=data)
    good, bad = trial.evidence("301", "401")
    assert good > 0.5 > bad


def test_better_link_determines_estimate() -> None:
    trial = Trial(least=1)
    trial.page("0", 0.0, {"1": "[coral]", "2": "[train]"})
    trial.page("1", 1.0), trial.page("2", 0.0)
    for node, links in (
        ("3", {"5": "[coral]", "6": "[train]", "7": "[coral]", "8": "[train]"}),
        ("4", {"5": "[train]", "6": "[coral]"}),
    ):
        trial.table.add_seed(node)
        trial.page(node, 0.0, links)
    five, six, seven, eight = trial.evidence("5", "6", "7", "8")
    assert five == six == seven > eight


def test_open_rows_are_updated_when_pages_double() -> None:
    trial = Trial(least=1)
    trial.page("0", 0.0, {str(n): "[coral]" if n % 2 else "[train]" for n in range(1, 21)})
    returned = [len(trial.page(str(n), float(n % 2))) for n in range(1, 17)]
    # All open rows are updated at page 2, with one good and one bad page, then at pages 4, 8 and 16.
    assert {2: 18, 4: 16, 8: 12, 16: 4} == {n: rows for n, rows in enumerate(returned, 1) if rows}
    good, bad = trial.evidence("17", "18")
    assert good > bad


def test_features_are_released_after_visit() -> None:
    trial = Trial()
    trial.page("0", 0.0, {str(n): "[coral]" for n in range(1, 5)})
    assert 4 == trial.kept
    trial.page("1", 0.5)
    trial.page("2", 0.0, outcome="gone")
    trial.page("3", 0.0, outcome="busy", retry_at=1.0)  # keeps its features, as it will be retried
    assert 2 == trial.kept
    trial.page("4", 0.0, {"target": "[]"}, kind="redirect", outcome="redirect")
    assert 2 == trial.kept
    trial.page("3", 0.0, {"1": "[coral]"})  # links to fetched pages are not stored
    assert 1 == trial.kept
    free = trial.apprentice.free_
    assert len(trial.apprentice.features_) - 1 == len(set(free)) + trial.kept == len(free) + trial.kept


def test_redirect_passes_on_features() -> None:
    trial = Trial(least=1)
    trial.page("0", 0.0, {"1": "[coral]", "2": "[train]"})
    trial.page("1", 0.0, {"9": "[]"}, kind="redirect", outcome="redirect")
    trial.page("9", 1.0), trial.page("2", 0.0)
    trial.table.add_seed("3")
    trial.page("3", 0.0, {"4": "[coral]", "5": "[train]"})
    trial.page("4", 0.0, {"6": "[]"}, kind="redirect", outcome="redirect")
    good, bad = trial.evidence("6", "5")
    assert good > 0.5 > bad


def test_several_links_of_page_to_row_are_merged() -> None:
    trial = Trial()
    links = Links.to("1", "1", anchors=["", "coral coral reef"])
    step = trial.table.absorb(Visit("0", "page", "ok", 1, links=links))
    assert step is not None
    trial.apprentice.learn(step, trial.table)
    assert 2 == np.count_nonzero(trial.apprentice.features_[trial.apprentice.slot_[1]])


def test_features_per_link_are_limited() -> None:
    trial = Trial(least=1)
    text = " ".join(f"{'abcdefghij'[n % 10]}{'klmnopqrst'[n // 10]}word" for n in range(100))
    trial.page("0", 0.0, {"1": f"[{text}]", "2": "\x01 a\x01b [coral\x01reef] \x02", "3": "[coral reef]"})
    one, two, three = (trial.apprentice.features_[trial.apprentice.slot_[n]] for n in (1, 2, 3))
    assert MAX_FEATURES == np.count_nonzero(one)
    assert set(three[three > 0].tolist()) <= set(two[two > 0].tolist())


def test_large_frontier_is_estimated_in_chunks() -> None:
    trial = Trial(least=1)
    trial.page("0", 0.0, {"1": "[coral]", "2": "[train]"})
    trial.page("1", 0.9), trial.page("2", 0.2)
    chance = np.random.default_rng(1)
    features = chance.choice(np.append(np.flatnonzero(trial.apprentice.n_), [0, 77]), (CHUNK + 5, MAX_FEATURES))
    alone = np.concatenate([trial.apprentice._estimate(part.astype(np.uint16)) for part in np.array_split(features, 3)])
    assert pytest.approx(alone) == trial.apprentice._estimate(features.astype(np.uint16))
