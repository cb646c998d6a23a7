"""ModelJudge: relevance, links, facets, logged classes, and cost."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from input_errors import raises_input_error
from lycosa.core.types import Judgement, Links, Page
from lycosa.judges.model import KINDS, TrainedModel, fit_model
from lycosa.judges.model_judge import ModelJudge
from lycosa.text.bags import Bags
from lycosa.text.vocabulary import Vocabulary
from work import calls

TERMS = ["bird", "coral", "fish", "rail", "sea", "train"]
CLASSES = ["Sea/Fish", "Sea/Reefs", "Trains"]
PAGES = Bags.of(
    [([2, 4], [2.0, 1.0]), ([1, 4], [3.0, 1.0]), ([3, 5], [1.0, 2.0])] * 4 + [([0, 5], [1.0, 1.0]), ([5], [1.0])]
)
LABELS = np.array([0, 1, 2] * 4 + [2, 2])


@pytest.fixture(scope="module")
def model() -> TrainedModel:
    return fit_model("nb", PAGES, LABELS, CLASSES, TERMS)


def page(text: str, *anchors: str, contexts: list[str] | None = None, urls: list[str] | None = None) -> Page:
    links = Links.to(*(urls or [f"http://a.test/{n}" for n in range(len(anchors))]), anchors=list(anchors))
    links.contexts = contexts or [""] * len(anchors)
    return Page("ok", 200, marked=" ".join([text, *(f"\x01{anchor}\x02" for anchor in anchors)]), links=links)


def judged(topic: ModelJudge, found: Page) -> Judgement:
    return topic.judge(found, Vocabulary().read(found))


@pytest.mark.paper("batsakis-classifier")
@pytest.mark.parametrize("kind", list(KINDS))
def test_judge_adds_probabilities_of_targets(kind: str) -> None:
    model = fit_model(kind, PAGES, LABELS, CLASSES, TERMS)
    told = model.probabilities(["coral", "sea", "sea"])
    assert judged(ModelJudge(model, ["Sea"]), page("Coral sea, sea")).relevance == pytest.approx(
        told[0] + told[1], abs=1e-6
    )
    assert judged(ModelJudge(model, ["Sea/Reefs"]), page("Coral sea, sea")).relevance == pytest.approx(
        told[1], abs=1e-6
    )
    both = judged(ModelJudge(model, ["Sea/Fish", "Trains"]), page("Coral sea, sea")).relevance
    assert both == pytest.approx(told[0] + told[2], abs=1e-6)


def test_judge_logs_best_classes(model: TrainedModel) -> None:
    found = judged(ModelJudge(model, ["Sea"]), page("coral coral coral sea")).data
    assert "Sea/Reefs" == found["classes"][0][0]
    assert found["target"] is True
    shares = [share for _, share in found["classes"]]
    assert shares == sorted(shares, reverse=True)
    assert judged(ModelJudge(model, ["Trains"]), page("coral coral coral sea")).data["target"] is False


@pytest.mark.paper("rules-sorted-classes")
def test_judge_logs_five_classes() -> None:
    bags = Bags.of([([n], [1.0]) for n in range(8)])
    eight = fit_model("nb", bags, np.arange(8), [f"c{n}" for n in range(8)], [f"w{n}" for n in range(8)])
    assert 5 == len(judged(ModelJudge(eight, ["c3"]), page("w3 w3")).data["classes"])


def test_alpha_is_lift_over_prior(model: TrainedModel) -> None:
    """Link relevance is (P - prior) / (1 - prior), at least 0; 8 of 14 pages are of Sea. 0 without known words."""
    topic = ModelJudge(model, ["Sea"])
    link_relevances = judged(
        topic, page("A page", "coral fish", "train", "nothing known", "", "the coral fish")
    ).link_relevances
    share = model.probabilities(["coral", "fish"])[:2].sum()
    assert topic.prior == pytest.approx(8 / 14)
    assert link_relevances[0] == pytest.approx((share - 8 / 14) / (6 / 14), abs=1e-5)
    assert [0.0, 0.0, 0.0] == link_relevances[1:4].tolist()
    assert link_relevances[0] == link_relevances[4]


def test_alpha_without_marks_reads_anchors(model: TrainedModel) -> None:
    topic, marked = ModelJudge(model, ["Sea"]), page("A page", "coral reef", "train", "sea")
    plain = Page("ok", 200, marked="A page\x01", links=marked.links)
    assert np.allclose(judged(topic, marked).link_relevances, judged(topic, plain).link_relevances)
    assert judged(topic, plain).link_relevances[0] > 0


def test_facets_are_judged_like_anchors(model: TrainedModel) -> None:
    topic = ModelJudge(model, ["Sea"])
    found = page(
        "A page", "coral", "here", contexts=["more on trains", "the coral"],
        urls=["http://a.test/x/1", "http://trains.test/sea/coral.html"],
    )  # fmt: skip
    assert {} == judged(topic, found).facets
    topic.facets = ("context", "url", "strange")
    facets = judged(topic, found).facets
    coral = judged(topic, found).link_relevances[0]
    assert [0.0, pytest.approx(coral)] == facets["context"].tolist()
    assert 0.0 == facets["url"][0]
    assert facets["url"][1] == judged(topic, page("", "train sea coral")).link_relevances[0]
    assert judged(topic, found).link_relevances.tolist() == facets["strange"].tolist()
    assert all(np.float32 == column.dtype for column in facets.values())


def test_judge_page_without_known_words_is_zero(model: TrainedModel) -> None:
    for text in ("", "Quantum chromodynamics", "日本"):
        found = judged(ModelJudge(model, ["Sea"]), page(text, "colour"))
        assert (0.0, {"classes": [], "target": False}) == (found.relevance, found.data)


def test_judge_follows_growing_vocabulary(model: TrainedModel) -> None:
    topic, words = ModelJudge(model, ["Sea"]), Vocabulary()
    alone = [
        judged(ModelJudge(model, ["Sea"]), page(text)).relevance for text in ("unknown words", "coral", "train sea")
    ]
    assert alone == [
        topic.judge(found, words.read(found)).relevance for found in map(page, ("unknown words", "coral", "train sea"))
    ]
    other = Vocabulary()
    other.read(page("train rail bird"))
    assert alone[1] == topic.judge(page("coral"), other.read(page("coral"))).relevance


def test_fingerprint_depends_on_model_and_targets(model: TrainedModel) -> None:
    one = ModelJudge(model, ["Sea"]).fingerprint
    assert one == ModelJudge(model, ["sea/"], threshold=0.9).fingerprint
    assert one != ModelJudge(model, ["Trains"]).fingerprint
    assert one != ModelJudge(fit_model("nb", PAGES, LABELS, CLASSES, TERMS, facts={"a": 1}), ["Sea"]).fingerprint


def test_load_accepts_path_or_text(model: TrainedModel, tmp_path: Path) -> None:
    model.save(tmp_path / "m")
    topic = ModelJudge.load(tmp_path / "m", ["Sea"], threshold=0.7)
    assert (0.7, ["Sea"]) == (topic.threshold, topic.targets)
    assert 0.5 == ModelJudge.load(str(tmp_path / "m"), ["Sea"]).threshold
    assert judged(ModelJudge(model, ["Sea"]), page("coral")).relevance == judged(topic, page("coral")).relevance
    with raises_input_error("unknown-name"):
        ModelJudge.load(tmp_path / "m", ["Air"])


@pytest.mark.parametrize("threshold", [0.0, -0.1, 1.5, float("nan")])
def test_threshold_must_be_probability(model: TrainedModel, threshold: float) -> None:
    with raises_input_error("out-of-range"):
        ModelJudge(model, ["Sea"], threshold)


def test_nested_links_take_linear_time(model: TrainedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at: list[int] = []
    link_probabilities = ModelJudge._link_probabilities

    def counted(self: ModelJudge, links: NDArray[np.intp], *rest: Any) -> NDArray[np.float32]:
        looked_at.append(len(links))
        return link_probabilities(self, links, *rest)

    monkeypatch.setattr(ModelJudge, "_link_probabilities", counted)
    links = Links.to(*(f"http://a.test/{n}" for n in range(10_000)), anchors=["x"] * 10_000)
    nested = Page("ok", 200, marked="\x01" * 10_000 + "coral " * 10_000 + "\x02" * 10_000, links=links)
    assert (10_000,) == judged(ModelJudge(model, ["Sea"]), nested).link_relevances.shape
    assert 0 < sum(looked_at) <= 64 * 10_000


@pytest.mark.parametrize("kind", ["nb", "svm"])
def test_judge_makes_few_calls(kind: str) -> None:
    """Judging 3,500 words and 40 links against 20,000 terms and 10 classes takes no call per word."""
    chance = random.Random(1)
    terms = [f"{a}{b}{c}x" for a in "bcdfghjklm" for b in range(40) for c in range(50)]
    bags = Bags.of((sorted(chance.sample(range(20_000), 100)), [1.0] * 100) for _ in range(60))
    model = fit_model(kind, bags, np.arange(60) % 10, [f"c{n}" for n in range(10)], terms)
    text = " ".join(chance.choices(terms, k=3500))
    found = page(text, *(" ".join(chance.choices(terms, k=3)) for _ in range(40)))
    topic, reading = ModelJudge(model, ["c1"]), Vocabulary().read(found)
    topic.judge(found, reading)
    assert calls(lambda: topic.judge(found, reading)) < 1_500
