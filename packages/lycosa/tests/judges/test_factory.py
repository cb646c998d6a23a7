"""make_judge: judges from options, and error messages for invalid ones."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from input_errors import raises_input_error
from lycosa.core.errors import InputError
from lycosa.core.options import Options
from lycosa.core.types import Judgement, Page, Visit
from lycosa.judges import JUDGES, describe
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


def test_make_judge_words_use_default_judge() -> None:
    topic = make_judge(Options(topic="coral reefs"))
    assert isinstance(topic, Probability)
    assert ({"coral": 1.0, "reef": 1.0}, 0.5) == (topic.weights, topic.threshold)


def test_make_judge_passes_words_to_named_judge() -> None:
    topic = make_judge(Options(topic="coral reefs", judge="vector"))
    assert isinstance(topic, VectorJudge)
    assert ({"coral": 1.0, "reef": 1.0}, 0.1) == (topic.weights, topic.threshold)


def test_make_judge_of_regex_is_regex_judge() -> None:
    topic = make_judge(Options(regex="coral", threshold=0.7))
    assert isinstance(topic, RegexJudge)
    assert 0.7 == topic.threshold


def test_make_judge_reads_terms_file(tmp_path: Path) -> None:
    path = tmp_path / "terms.txt"
    path.write_text("# what I want\ncoral\t2\n\nreef\nbleaching event\t0.5\r\n", encoding="utf-8-sig")
    topic = make_judge(Options(terms=str(path)))
    assert isinstance(topic, Probability)
    assert {"coral": 2.0, "reef": 1.0, "bleach": 0.5, "event": 0.5} == topic.weights


def test_make_judge_adds_terms_of_examples_to_words() -> None:
    topic = make_judge(Options(examples=["x"], judge="vector"), {"coral": 0.5, "reef": 0.25})
    assert isinstance(topic, VectorJudge)
    assert {"coral": 0.5, "reef": 0.25} == topic.weights
    both = make_judge(Options(examples=["x"], topic="reef sea", judge="vector"), {"coral": 0.5, "reef": 0.25})
    assert isinstance(both, VectorJudge)
    assert {"coral": 0.5, "reef": 0.75} == {key: both.weights[key] for key in ("coral", "reef")}


def test_make_judge_words_weigh_like_heaviest_example_term() -> None:
    both = make_judge(Options(examples=["x"], topic="coral sea lagoon", judge="vector"), {"coral": 0.5})
    assert isinstance(both, VectorJudge)
    assert {"coral": 1.0, "sea": 0.5, "lagoon": 0.5} == both.weights


def test_make_judge_accepts_user_class() -> None:
    from lycosa.judges.space_judge import SpaceJudge

    assert isinstance(make_judge(Options(judge="lycosa.judges.space_judge:SpaceJudge")), SpaceJudge)


@pytest.mark.parametrize("name", ["nowhere:Thing", "lycosa.spaces.graph:Nothing", ":Thing"])
def test_make_judge_user_class_not_found_raises(name: str) -> None:
    with raises_input_error("bad-plugin", "cannot load the judge.*module:Class"):
        make_judge(Options(judge=name))


def test_make_judge_user_class_without_threshold_raises() -> None:
    with raises_input_error("bad-plugin", "cannot load the"):
        make_judge(Options(judge="lycosa.judges.base:LanguageJudge", threshold=0.5))


class Own:
    """User-defined judge with words and a parameter."""

    def __init__(self, words: str = "", threshold: float = 0.5, size: int = 1) -> None:
        self.words, self.threshold, self.size = words, threshold, size

    def judge(self, page: Page, reading: Any) -> Judgement:
        return Judgement(0.0, np.zeros(len(page.links), np.float32))

    def learn(self, visit: Visit) -> None:
        pass


class Broken:
    """Class whose constructor fails."""

    def __init__(self) -> None:
        raise RuntimeError("no luck")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (f"{__name__}:Broken", "cannot load the judge .*: RuntimeError: no luck"),
        ("os:getcwd", "creates a str without judge and learn and threshold: see lycosa.core.protocols"),
        ("builtins:int", "cannot load the judge .*: ValueError: no signature"),
        ("..:x", "cannot load the judge .*module:Class"),
    ],
)
def test_make_judge_user_class_that_is_not_a_judge(name: str, message: str) -> None:
    with raises_input_error("bad-plugin", message):
        make_judge(Options(judge=name))


def test_make_judge_passes_words_and_parameters_to_user_class() -> None:
    made = make_judge(Options(judge=f"{__name__}:Own,size=3", topic="coral", threshold=0.7))
    assert isinstance(made, Own)
    assert ("coral", 0.7, 3) == (made.words, made.threshold, made.size)


def test_make_judge_user_class_without_words_raises() -> None:
    with raises_input_error("bad-plugin", "it has no parameter 'words' for 'coral'"):
        make_judge(Options(judge="lycosa.judges.space_judge:SpaceJudge", topic="coral"))


@pytest.mark.parametrize(
    ("judge", "kind"),
    [
        ("vector", VectorJudge),
        ("word-frequency", WordFrequencyJudge),
        ("weighted-content", WeightedContentJudge),
        ("keyword", KeywordJudge),
    ],
)
def test_make_judge_creates_named_judges(tmp_path: Path, judge: str, kind: type) -> None:
    path = tmp_path / "terms.txt"
    path.write_text("coral\t2\n")
    assert kind is type(make_judge(Options(topic="coral", judge=judge)))
    made = make_judge(Options(terms=str(path), judge=judge, threshold=0.4))
    assert (kind, {"coral": 2.0}, 0.4) == (type(made), getattr(made, "weights", None), made.threshold)


def test_make_judge_parses_parameters_after_name() -> None:
    topic = make_judge(Options(topic="coral", judge="vector,tf=max,idf=none,link=context,threshold=.3"))
    assert isinstance(topic, VectorJudge)
    assert ("max", "none", "context", 0.3) == (topic.tf, topic.idf, topic.link, topic.threshold)
    counted = make_judge(Options(topic="coral", judge="word-frequency,count=lines"))
    assert isinstance(counted, WordFrequencyJudge)
    assert "lines" == counted.count


def test_make_judge_accepts_judge_name_with_regex_or_examples() -> None:
    assert isinstance(make_judge(Options(regex="coral", judge="regex,threshold=.9")), RegexJudge)
    topic = make_judge(Options(examples=["x"], judge="vector,idf=none"), {"coral": 0.5})
    assert isinstance(topic, VectorJudge)
    assert ({"coral": 0.5}, "none") == (topic.weights, topic.idf)


@pytest.mark.parametrize(("terms", "threshold"), [(10, 0.1 + 0.0025 * 10), (40, 0.2), (60, 0.2)])
def test_make_judge_example_threshold_grows_with_terms(terms: int, threshold: float) -> None:
    topic = make_judge(Options(examples=["x"], judge="vector"), {f"w{n}": 0.1 for n in range(terms)})
    assert pytest.approx(threshold) == topic.threshold


def test_make_judge_with_background_uses_its_idf(tmp_path: Path) -> None:
    Background(10, {"coral": 2}).save(tmp_path / "b")
    topic = make_judge(Options(topic="coral", background=str(tmp_path / "b")))
    assert isinstance(topic, VectorJudge)
    assert topic.background is not None
    assert ("background", 10) == (topic.idf, topic.background.documents)


def test_make_judge_with_model_uses_targets_and_threshold(tmp_path: Path) -> None:
    bags = Bags.of([([0], [1]), ([1], [1])])
    fitted = NaiveBayes.fit(bags, np.array([0, 1]), 2, 2, smoothing=1, length=8)
    TrainedModel(["Art", "Science"], ["paint", "proof"], [1, 1], fitted).save(tmp_path / "m")
    made = make_judge(Options(model=str(tmp_path / "m"), targets=["Art"]))
    assert isinstance(made, ModelJudge)
    assert (["Art"], 0.5) == (list(made.targets), made.threshold)
    assert 0.8 == make_judge(Options(model=str(tmp_path / "m"), targets=["Art"], threshold=0.8)).threshold
    assert 0.9 == make_judge(Options(model=str(tmp_path / "m"), judge="model,threshold=.9", targets=["Art"])).threshold


@pytest.mark.parametrize("name", JUDGES)
def test_describe_lists_parameters_of_every_judge(name: str) -> None:
    assert JUDGES[name].summary
    assert "threshold" in describe(name)
    assert not {"words", "expression", "model", "stemmed", "background"} & set(describe(name))


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        ({}, "missing-topic", "--terms FILE, --example PAGE"),
        ({"topic": "coral", "regex": "coral"}, "conflicting-options", r"\(topic and regex\)"),
        ({"terms": "x", "examples": ["y"]}, "conflicting-options", "terms and examples"),
        ({"topic": "   "}, "empty-topic", "coral reef bleaching"),
        ({"topic": "coral", "model": "m"}, "conflicting-options", r"\(topic and model\)"),
        ({"topic": "coral", "judge": "lycosa"}, None, "there is no judge .lycosa.: choose one of prob.*module:Class"),
        ({"judge": "keyword"}, "missing-topic", "judge keyword needs a topic: .*--terms FILE"),
        ({"judge": "regex"}, "missing-topic", "judge regex .*--regex PATTERN"),
        ({"judge": "model"}, "missing-topic", "judge model .*--model FILE"),
        ({"judge": "vector", "regex": "coral"}, "conflicting-options", "vector does not take --regex"),
        ({"judge": "regex", "topic": "coral"}, "conflicting-options", "regex does not take a topic in words"),
        ({"judge": "keyword", "examples": ["x"]}, "conflicting-options", "keyword does not take --example"),
        ({"judge": "model", "topic": "coral"}, "conflicting-options", "model does not take a topic in words"),
        ({"topic": "coral", "targets": ["Sea"]}, "missing-option", "--target .*--model FILE"),
        ({"model": "nowhere.model"}, "missing-file", "nowhere.model does not exist: create a model with"),
        ({"judge": "vector,tf=huge", "topic": "coral"}, None, "tf of vector is 'huge': it must be max or log or raw"),
        ({"judge": "vector,speed=9", "topic": "coral"}, None, "speed"),
        ({"judge": "vector,words=reef", "topic": "coral"}, "unknown-option", "'words'; available: threshold, tf"),
        ({"judge": "keyword,window=0", "topic": "coral"}, None, "keyword: 'window' is 0: it must be 1"),
        ({"judge": "keyword", "topic": "coral", "background": "b"}, "conflicting-options", "keyword, which has no idf"),
        (
            {"judge": "vector,idf=none", "topic": "coral", "background": "b"},
            "conflicting-options",
            "the judge is vector,idf=none: drop",
        ),
        ({"topic": "coral", "background": "nowhere"}, None, "cannot read the word statistics in nowhere"),
        ({"topic": "the of", "judge": "vector"}, None, "no words to search for"),
        ({"regex": "("}, "bad-pattern", "not a regular expression"),
    ],
)
def test_make_judge_rejects_invalid_options(options: dict[str, Any], code: str | None, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        make_judge(Options(**options))
    assert code in (None, caught.value.code)


@pytest.mark.parametrize(
    ("content", "code", "message"),
    [
        (b"", "empty-file", "has no terms"),
        (b"# only\n\n   \n", "empty-file", "has no terms"),
        (b"coral\tmuch\n", "bad-value", "line 1: the weight 'much' is not a positive number"),
        (b"reef\ncoral\t-1\n", "bad-value", "line 2: the weight '-1' is not a positive number"),
        (b"coral\tnan\n", "bad-value", "line 1: the weight 'nan'"),
        (b"coral\tinf\n", "bad-value", "line 1: the weight 'inf'"),
        (b"caf\xe9\n", "bad-encoding", "not UTF-8"),
    ],
)
def test_read_terms_rejects_invalid_files(tmp_path: Path, content: bytes, code: str, message: str) -> None:
    path = tmp_path / "terms.txt"
    path.write_bytes(content)
    with raises_input_error(code, message):
        read_terms(path)


def test_read_terms_missing_file_raises(tmp_path: Path) -> None:
    with raises_input_error("unreadable-file", "cannot read the terms in .*nowhere: No such file"):
        read_terms(tmp_path / "nowhere")


def test_read_terms_adds_weights_of_repeated_terms(tmp_path: Path) -> None:
    path = tmp_path / "terms.txt"
    path.write_text("coral\t1\ncoral\t0.5\n")
    assert {"coral": 1.5} == read_terms(path)
