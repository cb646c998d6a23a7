from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from lycosa_lab.corpus_index import CorpusIndex
from lycosa_lab.findings import INDEPENDENT
from lycosa_lab.judgements import Judgements
from lycosa_lab.papers import Bench
from lycosa_lab.papers.gouriten import graphs
from lycosa_lab.papers.gouriten.claims import SIZES
from lycosa_lab.papers.gouriten.graphs import crawl
from lycosa_lab.results import ExperimentResults, Trial
from lycosa_lab.simulation import Trace
from lycosa_lab.subjects import HuntSubject
from lycosa_lab.trial_strategies import ORACLE


def test_like_has_graphs_of_table_1() -> None:
    assert [name.lower() for name in SIZES] == list(graphs.LIKE)


@pytest.mark.paper("gouriten-wikipedia")
def test_keyword_of_class_is_its_last_name() -> None:
    output = [graphs.keyword(name) for name in ("Science/Physics/General", "Arts/Art_and_Artists", "NaturalHistory")]
    assert ["physics", "art artists", "natural history"] == output


@pytest.mark.paper("gouriten-global-score")
def test_global_score_is_geometric_mean_of_means(tmp_path: Path) -> None:
    """The score is the geometric mean of ratios of means: 3 and 1 for the crawler, 4 for the other: sqrt(3/4 * 1/4)."""
    crawls = graphs.Crawls()
    for name, scores in (("one", (2.0, 4.0)), ("two", (1.0, 1.0)), ("greedy finds nothing", (0.0, 0.0))):
        greedy = 4.0 if max(scores) else 0.0
        score = {"b": greedy, "c": scores[0], "d": scores[1]}
        index = CorpusIndex.of({"a": ["b", "c", "d"]}, score=score)
        subject = HuntSubject(name, np.array(index.score))
        plan = Bench(index, tmp_path).plan(name, [ORACLE, "fl_n"], budgets=[1])
        report = ExperimentResults(plan, index, {name: subject})
        for text, nodes in ((ORACLE, (1, 1)), ("fl_n", (2, 3))):
            report.outcomes += [
                Trial(text, name, place, 0, Trace(np.array([0, node], np.int32), seeds=1))
                for place, node in enumerate(nodes)
            ]
        crawls.results[name] = (graphs.Dataset(name, graphs.CORPUS, index, Judgements.given(index), subject), report)
    assert math.sqrt(3 / 16) == pytest.approx(crawls.global_score(graphs.CORPUS, "fl_n", 1))


@pytest.mark.paper("gouriten-max-budget")
def test_steps_for_are_at_most_a_third_of_nodes() -> None:
    index = CorpusIndex.of({str(node): [str(node + 1)] for node in range(3_000)})
    assert ((100, 1_000), (30, 100, 300)) == (graphs.steps_for(index, False), graphs.steps_for(index, True))
    assert (1,) == graphs.steps_for(CorpusIndex.of({"a": ["b"]}), True)


def test_crawl_omits_graph_without_reachable_labels(tmp_path: Path) -> None:
    index = CorpusIndex.of({"a": ["b"], "b": ["a"]}, score={"a": 1.0, "b": 1.0})
    guide = Judgements.given(index)
    labels = HuntSubject("lonely", np.array([1, 0], np.float32))  # a is the only seed, and no other node is labelled
    graph = graphs.Dataset(
        "LONELY", graphs.CORPUS, index, guide, HuntSubject("lonely", guide.relevance), labels, steps=(1,)
    )
    bench = Bench(index, tmp_path, quick=True, workers=1)
    crawls = crawl(bench, [graph], ["fl_n"], sets=1, mode=INDEPENDENT)
    assert ({}, 1) == (crawls.results, len(crawls.left_out))
    assert crawls.remarks()[0].startswith("LONELY: not judged by labels: ")
