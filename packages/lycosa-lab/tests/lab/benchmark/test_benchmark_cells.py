from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from lycosa_lab import benchmark as lab
from lycosa_lab.benchmark.corpora import AvailableCorpus
from lycosa_lab.comparison import CrawlComparison
from lycosa_lab.corpus_index import CorpusIndex


def classified(sizes: dict[str, int], pages: int) -> CorpusIndex:
    """Return a graph whose first nodes are of the first class, and so on."""
    index = CorpusIndex.of({f"n{number}": [] for number in range(pages)})
    of = [place for place, size in enumerate(sizes.values()) for _ in range(size)]
    columns = dict(index.columns)
    columns["class_of"] = np.array(of, np.int32)
    columns["class_start"] = np.minimum(np.arange(pages + 1), len(of)).astype(np.int64)
    return replace(index, columns=columns, facts={**index.facts, "classes": list(sizes)})


SETTING = lab.BenchmarkSetting("words", "on-topic")


def measured(topics: str, **shares: Sequence[float]) -> lab.BenchmarkRun:
    """Return a cell of trials with these shares; those of greedy are half as large."""
    names = ["oracle", *(name.replace("_", "-") for name in shares)]
    columns = [np.ones(len(topics)), *(np.array(row) for row in shares.values())]
    values = {name: column[:, None] for name, column in zip(names, columns, strict=True)}
    greedy = {name: 2 * column for name, column in values.items()}
    of = CrawlComparison({}, [20], list(topics), {lab.SHARE: values, lab.GREEDY: greedy})
    return lab.BenchmarkRun(
        [AvailableCorpus("x", classified({}, 60), [])],
        lab.BenchmarkSize(),
        names,
        {lab.BenchmarkCell("x", SETTING, 20): of},
    )


def test_compared_best_rival_is_chosen_in_hindsight() -> None:
    """The best rival has the highest mean: b with (.5 + .7) / 2 = .6 against a's .5; scent has (.8 + .6) / 2 = .7."""
    result = measured("ab", scent=(0.8, 0.6), best_first=(0.5, 0.5), nb_links=(0.5, 0.7), craw4llm=(0.9, 0.9))
    (cell,) = lab.compare_cells(result)
    assert cell.best == "nb-links"
    assert (cell.scent.mean, cell.rival.mean) == pytest.approx((0.7, 0.6))
    assert cell.ahead.mean == pytest.approx(0.1)  # (.3 - .1) / 2
    assert cell.greedy == pytest.approx(1.4)
    (drawn,) = lab.compare_cells(measured("aab", scent=(0.8, 0.2, 0.6), nb_links=(0.5, 0.3, 0.7)))
    assert drawn.topics == 2  # a topic counts once, regardless of its seed draws
    assert drawn.ahead.mean == pytest.approx(0.0)  # ((.3 - .1) / 2 - .1) / 2
    claim = lab.nowhere_behind([cell])
    assert claim.verdict == "cannot be tested here"
    assert "2 topics only" in claim.evidence


@pytest.mark.parametrize(("scent", "verdict"), [(0.3, "does not hold"), (0.7, "holds")])
def test_nowhere_behind_has_verdict_with_enough_topics(scent: float, verdict: str) -> None:
    result = measured("abcdefgh", scent=[scent] * 8, nb_links=0.5 + np.arange(8) / 100)
    claim = lab.nowhere_behind(lab.compare_cells(result))
    assert claim.verdict == verdict
    assert "nb-links less scent, share on x, words, 3 seeds, 20 pages" in claim.evidence


def test_nowhere_behind_is_untestable_with_identical_crawls() -> None:
    result = measured("abcdefgh", scent=[0.5] * 8, nb_links=[0.5] * 8)
    pages = dict.fromkeys(("scent", "nb-links"), [np.arange(3, dtype=np.int32)] * 8)
    result.cells = {cell: replace(of, pages=pages) for cell, of in result.cells.items()}
    assert lab.nowhere_behind(lab.compare_cells(result)).verdict == "cannot be tested here"
