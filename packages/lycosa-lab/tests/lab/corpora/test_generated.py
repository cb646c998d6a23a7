from pathlib import Path

import numpy as np
import pytest

from input_errors import raises_input_error
from lycosa.strategies import strategy
from lycosa_lab.corpora import generated
from lycosa_lab.corpora.generated import KINDS, generate
from lycosa_lab.corpora.loading import make_index
from lycosa_lab.corpus_index import CorpusIndex
from lycosa_lab.judgements import Judgements
from lycosa_lab.simulation import simulate


@pytest.fixture(scope="module")
def france(tmp_path_factory: pytest.TempPathFactory) -> CorpusIndex:
    return generate(tmp_path_factory.mktemp("made") / "france.index", "france", nodes=20_000)


def sources(index: CorpusIndex) -> np.ndarray:
    return np.repeat(np.arange(len(index)), np.diff(index.child_start))


def test_generate_has_given_size_and_shares(france: CorpusIndex) -> None:
    assert 20_000 == len(france)
    assert 35.6 / 2.2 * 20_000 == pytest.approx(len(france.child), rel=0.01)
    assert 3840 == np.count_nonzero(france.score)  # .192 * 20,000
    assert (20_000, len(france.child), 3840) == tuple(
        france.facts[name] for name in ("pages", "links", "non_zero_nodes")
    )


@pytest.mark.paper("gouriten-social-graphs")
@pytest.mark.parametrize("like", list(KINDS))
def test_generate_shares_of_paper(like: str, tmp_path: Path) -> None:
    index = generate(tmp_path / "made.index", like, nodes=50_000)
    kind = KINDS[like]
    assert round(kind.share * 50_000) == np.count_nonzero(index.score)
    assert kind.edge_share == pytest.approx(np.count_nonzero(index.alpha) / len(index.alpha), rel=0.2)
    assert round(kind.edges / kind.nodes * 50_000) == pytest.approx(len(index.child), rel=0.01)


def test_generate_no_self_links_or_duplicates(france: CorpusIndex) -> None:
    source = sources(france)
    assert not (source == france.child).any()
    assert len(france.child) == len(np.unique(source * len(france) + france.child))
    assert 0 <= france.child.min() <= france.child.max() < len(france)
    assert not len(france.link_slot)


def test_generate_degrees_have_heavy_tails(france: CorpusIndex) -> None:
    """The top 1 % of nodes have more links than with random assignment: 16 +- 4 links each, less than 2 % of all."""
    into = np.sort(np.bincount(france.child, minlength=len(france)))[::-1]
    out = np.sort(np.diff(france.child_start))[::-1]
    assert into[:200].sum() > 0.2 * into.sum()
    assert out[:200].sum() > 0.08 * out.sum()
    assert into[0] > 50 * into.mean()
    # On a log-log scale the tail is roughly a line: 16 times the rank means about 16 ** .9 = 12 times fewer links.
    assert 6 < into[20] / into[320] < 24


def test_generate_linked_nodes_have_similar_scores(france: CorpusIndex) -> None:
    source, has = sources(france), france.score > 0
    to_scored = has[france.child]
    assert to_scored[has[source]].mean() > 1.3 * to_scored[~has[source]].mean()
    assert np.corrcoef(france.score[source], france.score[france.child])[0, 1] > 0.05
    shuffled = np.random.default_rng(1).permutation(france.child)
    assert abs(np.corrcoef(france.score[source], france.score[shuffled])[0, 1]) < 0.02


def test_generate_link_scores_correlate_with_targets(france: CorpusIndex) -> None:
    source = sources(france)
    assert np.corrcoef(france.alpha, france.score[france.child])[0, 1] > 0.2
    assert np.corrcoef(france.alpha, france.score[source])[0, 1] > 0.2
    assert (france.alpha <= france.score[source]).all()


def test_generate_scores_are_word_counts(france: CorpusIndex) -> None:
    counts = np.expm1(france.score[france.score > 0].astype(np.float64))
    assert np.allclose(counts, counts.round(), rtol=1e-5)
    assert len(np.unique(france.score)) < len(counts) / 4
    assert counts.max() > 100


def test_generate_fl_ne_beats_breadth_first(france: CorpusIndex) -> None:
    seeds = np.flatnonzero(france.score > 0)[:10].tolist()

    def found(text: str) -> float:
        trace = simulate(Judgements.given(france), strategy(text), seeds, 1000)
        return float(france.score[trace.found].sum())

    assert found("fl_ne") > 1.5 * found("breadth-first")


def test_generate_is_reproducible(tmp_path: Path) -> None:
    result = [generate(tmp_path / name, "weird", nodes=2000, random_seed=seed) for name, seed in (("a", 1), ("b", 1))]
    other = generate(tmp_path / "a", "weird", nodes=2000, random_seed=2)
    assert result[0].fingerprint == result[1].fingerprint != other.fingerprint
    assert {"a", "b"} == {path.name for path in tmp_path.iterdir()}


def test_generate_in_chunks_reports_progress(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generated, "CHUNK", 1000)
    output: list[tuple[int, int]] = []
    index = generate(
        tmp_path / "made", "france", nodes=1500, progress=lambda what, done, total: output.append((done, total))
    )
    assert 24_273 == pytest.approx(len(index.child), rel=0.01)
    assert len(index.child) == index.child_start[-1]
    assert len(output) > 10
    assert (24_273, 24_273) == output[-1]


@pytest.mark.parametrize(
    ("like", "given", "code", "match"),
    [("paris", {}, "unknown-name", "bretagne, france"), ("france", {"nodes": 3}, "out-of-range", "between 10 and")],
)
def test_generate_rejects_bad_parameters(
    like: str, given: dict[str, float], code: str, match: str, tmp_path: Path
) -> None:
    with raises_input_error(code, match):
        generate(tmp_path / "made", like, **given)  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())


def test_generate_accepts_ten_nodes(tmp_path: Path) -> None:
    index = generate(tmp_path / "few", "jazz", nodes=10)
    assert (10, 1) == (len(index), np.count_nonzero(index.score))
    assert len(index.child) <= 9


def test_make_index_generates_named_graph(tmp_path: Path) -> None:
    index = make_index(["generated:france,nodes=500,seed=3"], tmp_path / "x")
    assert (500, 96) == (len(index), index.facts["non_zero_nodes"])
    assert index.fingerprint == generate(tmp_path / "y", "france", nodes=500, random_seed=3).fingerprint
    with raises_input_error("unknown-option", "has no parameter 'pages'"):
        make_index(["generated:france,pages=500"], tmp_path / "z")
