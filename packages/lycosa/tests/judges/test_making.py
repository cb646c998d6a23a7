"""From options to a topic: one at a time, and errors that say what to change."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lycosa.core.errors import InputError
from lycosa.core.options import Options
from lycosa.core.types import Judgement, Page, Visit
from lycosa.judges import TOPICS, describe
from lycosa.judges.counting import KeywordJudge, WordFrequencyJudge
from lycosa.judges.factory import make_judge, read_terms
from lycosa.judges.model import TrainedModel
from lycosa.judges.model_judge import ModelJudge
from lycosa.judges.pattern import RegexJudge
from lycosa.judges.probability import Probability
from lycosa.judges.vector_judge import VectorJudge, WeightedContentJudge
from lycosa.text.background import Background
from lycosa.text.bags import Bags
from lycosa.text.naive_bayes import NaiveBayes


def test_words() -> None:
    """Words make the default judge, which gives probabilities."""
    topic = make_judge(Options(topic="coral reefs"))
    assert isinstance(topic, Probability)
    assert ({"coral": 1.0, "reef": 1.0}, 0.5) == (topic.weights, topic.threshold)


def test_words_for_a_judge_by_name() -> None:
    """A judge that is named keeps its formula and its threshold."""
    topic = make_judge(Options(topic="coral reefs", judge="vector"))
    assert isinstance(topic, VectorJudge)
    assert ({"coral": 1.0, "reef": 1.0}, 0.1) == (topic.weights, topic.threshold)


def test_a_pattern() -> None:
    """A regular expression makes a pattern; a threshold of the user's is handed on."""
    topic = make_judge(Options(regex="coral", threshold=0.7))
    assert isinstance(topic, RegexJudge)
    assert 0.7 == topic.threshold


def test_terms_from_a_file(tmp_path: Path) -> None:
    """A file of terms makes a weighted query."""
    path = tmp_path / "terms.txt"
    path.write_text("# what I want\ncoral\t2\n\nreef\nbleaching event\t0.5\r\n", encoding="utf-8-sig")
    topic = make_judge(Options(terms=str(path)))
    assert isinstance(topic, Probability)
    assert {"coral": 2.0, "reef": 1.0, "bleach": 0.5, "event": 0.5} == topic.weights


def test_examples() -> None:
    """Learned terms are stems already; words beside them weigh as much as the heaviest."""
    topic = make_judge(Options(examples=["x"], judge="vector"), {"coral": 0.5, "reef": 0.25})
    assert isinstance(topic, VectorJudge)
    assert {"coral": 0.5, "reef": 0.25} == topic.weights
    both = make_judge(Options(examples=["x"], topic="reef sea", judge="vector"), {"coral": 0.5, "reef": 0.25})
    assert isinstance(both, VectorJudge)
    assert {"coral": 0.5, "reef": 0.75} == {key: both.weights[key] for key in ("coral", "reef")}


def test_words_beside_examples_weigh_alike() -> None:
    """Each word beside the examples weighs as much as the heaviest term of the examples."""
    both = make_judge(Options(examples=["x"], topic="coral sea lagoon", judge="vector"), {"coral": 0.5})
    assert isinstance(both, VectorJudge)
    assert {"coral": 1.0, "sea": 0.5, "lagoon": 0.5} == both.weights


def test_a_class_of_ones_own() -> None:
    """module:Class is imported and made."""
    from lycosa.judges.space_judge import SpaceJudge

    assert isinstance(make_judge(Options(judge="lycosa.judges.space_judge:Given")), SpaceJudge)


@pytest.mark.parametrize("name", ["nowhere:Thing", "lycosa.spaces.graph:Nothing", ":Thing"])
def test_a_class_that_can_not_be_loaded(name: str) -> None:
    """A name that leads nowhere is refused with how to write it."""
    with pytest.raises(InputError, match=r"cannot load the judge.*module:Class"):
        make_judge(Options(judge=name))


def test_a_class_that_takes_no_threshold() -> None:
    """A class that can't be made as asked is refused, not a traceback."""
    with pytest.raises(InputError, match="cannot load the judge"):
        make_judge(Options(judge="lycosa.judges.base:LanguageJudge", threshold=0.5))


class Own:
    """A topic of a user's own, which takes words and a parameter."""

    def __init__(self, words: str = "", threshold: float = 0.5, size: int = 1) -> None:
        self.words, self.threshold, self.size = words, threshold, size

    def judge(self, page: Page, reading: Any) -> Judgement:
        """Nothing is of interest."""
        return Judgement(0.0, np.zeros(len(page.links), np.float32))

    def learn(self, visit: Visit) -> None:
        """Nothing to learn."""


class Broken:
    """One that can't even be made."""

    def __init__(self) -> None:
        raise RuntimeError("no luck")


@pytest.mark.parametrize(
    ("name", "told"),
    [
        (f"{__name__}:Broken", "cannot load the judge .*: RuntimeError: no luck"),
        ("os:getcwd", "makes 'str', which has no judge and no learn and no threshold: see lycosa.core.protocols"),
        ("builtins:int", "cannot load the judge .*: ValueError: no signature"),
        ("..:x", "cannot load the judge .*module:Class"),
    ],
)
def test_classes_that_make_no_topic(name: str, told: str) -> None:
    """Whatever a class of one's own does, it is found out before the crawl starts, and told in a line."""
    with pytest.raises(InputError, match=told):
        make_judge(Options(judge=name))


def test_a_class_of_ones_own_with_words_and_parameters() -> None:
    """It gets the words, the threshold, and what is typed behind its name."""
    made = make_judge(Options(judge=f"{__name__}:Own,size=3", topic="coral", threshold=0.7))
    assert isinstance(made, Own)
    assert ("coral", 0.7, 3) == (made.words, made.threshold, made.size)


def test_a_class_of_ones_own_that_takes_no_words() -> None:
    """Words that it can't take are not dropped silently."""
    with pytest.raises(InputError, match="it has no parameter 'words' for 'coral'"):
        make_judge(Options(judge="lycosa.judges.space_judge:Given", topic="coral"))


@pytest.mark.parametrize(
    ("judge", "kind"),
    [
        ("vector", VectorJudge),
        ("word-frequency", WordFrequencyJudge),
        ("weighted-content", WeightedContentJudge),
        ("keyword", KeywordJudge),
    ],
)
def test_judges_by_name(tmp_path: Path, judge: str, kind: type) -> None:
    """Each judge of words is made from words or from a file of terms, with its own threshold or the user's."""
    path = tmp_path / "terms.txt"
    path.write_text("coral\t2\n")
    assert kind is type(make_judge(Options(topic="coral", judge=judge)))
    made = make_judge(Options(terms=str(path), judge=judge, threshold=0.4))
    assert (kind, {"coral": 2.0}, 0.4) == (type(made), getattr(made, "weights", None), made.threshold)


def test_parameters_behind_the_name() -> None:
    """What is typed behind the judge's name reaches it."""
    topic = make_judge(Options(topic="coral", judge="vector,tf=max,idf=none,link=context,threshold=.3"))
    assert isinstance(topic, VectorJudge)
    assert ("max", "none", "context", 0.3) == (topic.tf, topic.idf, topic.link, topic.threshold)
    counted = make_judge(Options(topic="coral", judge="word-frequency,count=lines"))
    assert isinstance(counted, WordFrequencyJudge)
    assert "lines" == counted.count


def test_the_same_for_patterns_and_examples() -> None:
    """regex and vector can be named where they would be taken anyway."""
    assert isinstance(make_judge(Options(regex="coral", judge="regex,threshold=.9")), RegexJudge)
    topic = make_judge(Options(examples=["x"], judge="vector,idf=none"), {"coral": 0.5})
    assert isinstance(topic, VectorJudge)
    assert ({"coral": 0.5}, "none") == (topic.weights, topic.idf)


@pytest.mark.parametrize(("terms", "threshold"), [(10, 0.1 + 0.0025 * 10), (40, 0.2), (60, 0.2)])
def test_more_words_have_to_be_met_by_more(terms: int, threshold: float) -> None:
    """The threshold of examples grows with the number of their words, to .2."""
    topic = make_judge(Options(examples=["x"], judge="vector"), {f"w{n}": 0.1 for n in range(terms)})
    assert pytest.approx(threshold) == topic.threshold


def test_a_background_of_ones_own(tmp_path: Path) -> None:
    """--background is read at once, and means idf=background."""
    Background(10, {"coral": 2}).save(tmp_path / "b")
    topic = make_judge(Options(topic="coral", background=str(tmp_path / "b")))
    assert isinstance(topic, VectorJudge)
    assert topic.background is not None
    assert ("background", 10) == (topic.idf, topic.background.documents)


def test_a_model(tmp_path: Path) -> None:
    """--model and --target make a classifier."""
    bags = Bags.of([([0], [1]), ([1], [1])])
    fitted = NaiveBayes.fit(bags, np.array([0, 1]), 2, 2, smoothing=1, length=8)
    TrainedModel(["Art", "Science"], ["paint", "proof"], [1, 1], fitted).save(tmp_path / "m")
    made = make_judge(Options(model=str(tmp_path / "m"), targets=["Art"]))
    assert isinstance(made, ModelJudge)
    assert (["Art"], 0.5) == (list(made.targets), made.threshold)
    assert 0.8 == make_judge(Options(model=str(tmp_path / "m"), targets=["Art"], threshold=0.8)).threshold
    assert 0.9 == make_judge(Options(model=str(tmp_path / "m"), judge="model,threshold=.9", targets=["Art"])).threshold


@pytest.mark.parametrize("name", TOPICS)
def test_every_judge_is_described(name: str) -> None:
    """Each registered judge can be loaded, has a sentence, and names its threshold among its parameters."""
    assert TOPICS[name].summary
    assert "threshold" in describe(name)
    assert not {"words", "expression", "model", "stemmed", "background"} & set(describe(name))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "no topic: say what to look for"),
        ({"topic": "coral", "regex": "coral"}, r"more than one topic \(topic and regex\)"),
        ({"terms": "x", "examples": ["y"]}, "more than one topic"),
        ({"topic": "   "}, "the topic is empty"),
        ({"topic": "coral", "model": "m"}, r"more than one topic \(topic and model\)"),
        ({"topic": "coral", "judge": "lycosa"}, "there is no judge .lycosa.: choose one of prob.*module:Class"),
        ({"judge": "keyword"}, "the judge keyword has nothing to go by: say what to look for in a few words"),
        ({"judge": "regex"}, "the judge regex has nothing to go by: .*--regex PATTERN"),
        ({"judge": "model"}, "the judge model has nothing to go by: .*--model FILE"),
        ({"judge": "vector", "regex": "coral"}, "the judge vector is not made from --regex: say"),
        ({"judge": "regex", "topic": "coral"}, "the judge regex is not made from a topic in words: give it"),
        ({"judge": "keyword", "examples": ["x"]}, "the judge keyword is not made from --example: say"),
        ({"judge": "model", "topic": "coral"}, "the judge model is not made from a topic in words: name a model"),
        ({"topic": "coral", "targets": ["Sea"]}, "--target names a class of a model: .*--model FILE"),
        ({"model": "nowhere.model"}, "there is no model nowhere.model: 'lycosa train' makes one"),
        ({"judge": "vector,tf=huge", "topic": "coral"}, "tf of vector is 'huge': it must be max or log or raw"),
        ({"judge": "vector,speed=9", "topic": "coral"}, "vector has no parameter 'speed': it takes"),
        ({"judge": "vector,words=reef", "topic": "coral"}, "vector has no parameter 'words': it takes threshold, tf"),
        ({"judge": "keyword,window=0", "topic": "coral"}, "keyword: window is 0: it must be 1"),
        ({"judge": "keyword", "topic": "coral", "background": "b"}, "the judge is keyword, which has no idf"),
        (
            {"judge": "vector,idf=none", "topic": "coral", "background": "b"},
            "the judge is vector,idf=none, which takes",
        ),
        ({"topic": "coral", "background": "nowhere"}, "cannot read the word statistics in nowhere"),
        ({"topic": "the of"}, "no words to look for"),
        ({"regex": "("}, "not a regular expression"),
    ],
)
def test_what_can_not_be_made(options: dict[str, Any], message: str) -> None:
    """Each wrong request has its own message."""
    with pytest.raises(InputError, match=message):
        make_judge(Options(**options))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "names no terms"),
        (b"# only\n\n   \n", "names no terms"),
        (b"coral\tmuch\n", "line 1: the weight 'much' is not a positive number"),
        (b"reef\ncoral\t-1\n", "line 2: the weight '-1' is not a positive number"),
        (b"coral\tnan\n", "line 1: the weight 'nan'"),
        (b"coral\tinf\n", "line 1: the weight 'inf'"),
        (b"caf\xe9\n", "are not UTF-8 text"),
    ],
)
def test_terms_that_can_not_be_read(tmp_path: Path, content: bytes, message: str) -> None:
    """A wrong line is named by its number."""
    path = tmp_path / "terms.txt"
    path.write_bytes(content)
    with pytest.raises(InputError, match=message):
        read_terms(path)


def test_terms_that_are_not_there(tmp_path: Path) -> None:
    """A missing file is named, with the reason."""
    with pytest.raises(InputError, match=r"cannot read the terms in .*nowhere: No such file"):
        read_terms(tmp_path / "nowhere")


def test_a_term_twice_adds_up(tmp_path: Path) -> None:
    """A term written twice has both weights."""
    path = tmp_path / "terms.txt"
    path.write_text("coral\t1\ncoral\t0.5\n")
    assert {"coral": 1.5} == read_terms(path)
