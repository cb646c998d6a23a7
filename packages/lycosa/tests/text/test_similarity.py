"""Word similarities: by hand on a small ontology, by brute force on random ones, and on WordNet."""

from __future__ import annotations

import re
from itertools import pairwise
from math import exp, tanh

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from lycosa.text import similarity
from lycosa.text.ontology import Ontology, fold
from lycosa.text.similarity import MEASURES, Measure, WordSimilarity, checked_parameters, word_similarity
from tables import each

SEA = Ontology.build(
    {
        name: [name]
        for name in ("thing", "sea life", "animal", "vertebrate", "mammal", "fish", "whale", "shark", "cow", "milk")
    }
    | {"swim": ["swim"]},
    broader=[
        ("sea life", "thing"),
        ("animal", "thing"),
        ("vertebrate", "animal"),
        ("mammal", "vertebrate"),
        ("fish", "vertebrate"),
        ("cow", "mammal"),
        ("whale", "mammal"),  # two parents
        ("whale", "sea life"),
        ("shark", "fish"),  # two parents
        ("shark", "sea life"),
    ],
    related=[("cow", "milk")],
)


def of(like: WordSimilarity, word: str) -> NDArray[np.float64]:
    """Return the similarities of a word; an unknown word is its own base form."""
    bases, senses = like.ontology.look_up(word)
    return like.rows([(bases or (fold(word),), senses)], like.near_concepts(0))[0]


def test_depths_of_example_concepts_by_hand() -> None:
    expected = {"thing": 0, "sea life": 1, "animal": 1, "vertebrate": 2, "mammal": 3, "fish": 3}
    expected |= {"whale": 2, "shark": 2, "cow": 4, "milk": 0, "swim": 0}
    assert expected == dict(zip(SEA.names, SEA.depth.tolist(), strict=True))


@pytest.mark.paper("batsakis-ehrig-any", "batsakis-ehrig-is-a", "batsakis-eq3", "batsakis-df", "batsakis-li-a-b")
@each(
    [
        # cow < mammal > whale: L = 2, H = 3
        ("cow", "whale", "ehrig", 0.5**2),
        ("cow", "whale", "li", exp(-0.2 * 2) * tanh(0.6 * 3)),
        ("cow", "whale", "path", 1 / (1 + 2)),
        ("cow", "whale", "depth", 2 * 3 / (2 + 2 * 3)),
        ("cow", "whale", "is-a-2", 1.0),
        ("cow", "whale", "any-1", 0.0),
        # cow < mammal < vertebrate > fish > shark: L = 4, H = 2
        ("cow", "shark", "ehrig", 0.0625),
        ("cow", "shark", "li", exp(-0.8) * tanh(1.2)),  # 0.4493 * 0.8337
        ("cow", "shark", "path", 0.2),
        ("cow", "shark", "depth", 4 / (4 + 4)),
        ("cow", "shark", "is-a-2", 0.0),
        # whale < sea life > shark: L = 2; by whale < mammal < vertebrate > fish > shark: H = 2, the depth of vertebrate
        ("whale", "shark", "ehrig", 0.25),
        ("whale", "shark", "li", 0.5588),  # exp(-.4) * tanh(1.2) = 0.6703 * 0.8337
        ("whale", "shark", "path", 1 / 3),
        ("whale", "shark", "depth", 4 / (2 + 4)),
        ("whale", "shark", "is-a-2", 1.0),
        # cow < mammal: L = 1, H = 3
        ("cow", "mammal", "ehrig", 0.5),
        ("cow", "mammal", "li", exp(-0.2) * tanh(1.8)),
        ("cow", "mammal", "depth", 6 / 7),
        ("cow", "mammal", "any-1", 1.0),
        # cow up to thing and down to sea life: L = 4 + 1, H = 0
        ("cow", "sea life", "ehrig", 0.5**5),
        ("cow", "sea life", "li", 0.0),
        ("cow", "sea life", "depth", 0.0),
        # related, but without a common ancestor
        ("cow", "milk", "any-1", 1.0),
        *(("cow", "milk", measure, 0.0) for measure in MEASURES if measure != "any-1"),
        *(("cow", "swim", measure, 0.0) for measure in MEASURES),
        *(("cow", "Cows", measure, 1.0) for measure in MEASURES),
        *(("cow", "unicorn", measure, 0.0) for measure in MEASURES),
        *(("Unicorn", "unicorn", measure, 1.0) for measure in MEASURES),
    ]
)
def test_measures_by_hand(a: str, b: str, measure: Measure, expected: float) -> None:
    assert expected == pytest.approx(word_similarity(SEA, a, b, measure), abs=5e-5)
    assert word_similarity(SEA, a, b, measure) == word_similarity(SEA, b, a, measure)
    both = WordSimilarity(SEA, [a, "thing", b], measure)
    assert expected == pytest.approx(of(both, b)[0], abs=5e-5)
    assert expected == pytest.approx(of(both, a)[2], abs=5e-5)


def test_measure_parameters_are_applied() -> None:
    assert 0.9**4 == pytest.approx(word_similarity(SEA, "cow", "shark", "ehrig", df=0.9))
    assert exp(-0.1 * 4) * tanh(0.3 * 2) == pytest.approx(word_similarity(SEA, "cow", "shark", "li", a=0.1, b=0.3))
    assert exp(-0.1 * 4) * tanh(0.3 * 2) == pytest.approx(
        of(WordSimilarity(SEA, ["cow"], "li", a=0.1, b=0.3), "shark")[0]
    )


@each(
    [
        ("lin", {}, "unknown measure 'lin'; available: ehrig, li, path, depth, any-1, is-a-2"),
        ("ehrig", {"df": 1.0}, "'df' is 1: it must be above 0 and below 1"),
        ("li", {"a": 0.0}, "'a' is 0: it must be above 0"),
        ("li", {"b": float("nan")}, "'b' is nan: it must be above 0"),
        ("li", {"df": 0.5}, "the measure li has no parameter 'df'; it has a and b"),
        ("path", {"a": 1.0}, "the measure path has no parameter 'a'; it has none"),
    ]
)
def test_measures_reject_invalid_parameters(measure: Measure, parameters: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        WordSimilarity(SEA, ["cow"], measure, **parameters)
    with pytest.raises(ValueError, match=re.escape(message)):
        word_similarity(SEA, "cow", "whale", measure, **parameters)


def test_rows_have_value_per_given_word() -> None:
    like = WordSimilarity(SEA, ["whale", "unicorn", "whale", "cow"], "ehrig")
    assert [0.25, 0.0, 0.25, 0.0625] == of(like, "shark").tolist()
    assert [0.0, 1.0, 0.0, 0.0] == of(like, "UNICORN").tolist()
    assert [0.0, 0.0, 0.0, 0.0] == of(like, "x" * 10_000).tolist()
    assert [] == of(WordSimilarity(SEA, [], "li"), "shark").tolist()
    assert [0.0] == of(WordSimilarity(Ontology.build({}, broader=[]), ["cow"], "li"), "shark").tolist()


@st.composite
def ontologies(draw: st.DrawFn) -> Ontology:
    """Draw acyclic graphs in which concepts have several parents and words several senses."""
    count = draw(st.integers(1, 14))
    links = draw(st.lists(st.tuples(st.integers(0, count - 1), st.integers(0, count - 1)), max_size=30))
    related = draw(st.lists(st.tuples(st.integers(0, count - 1), st.integers(0, count - 1)), max_size=5))
    order = draw(st.permutations(range(count)))  # the order of numbers must not reveal the hierarchy
    words = draw(st.lists(st.lists(st.sampled_from("pqrstuvwxyz"), max_size=2), min_size=count, max_size=count))
    return Ontology.build(
        {str(order[number]): words[number] for number in range(count)},
        [(str(order[max(pair)]), str(order[min(pair)])) for pair in links],
        [(str(a), str(b)) for a, b in related],
    )


def brute_force(known: Ontology, a: str, b: str, measure: Measure) -> float:
    """Compute the measure from its definition: all pairs of senses, all common ancestors, all paths."""
    if a == b:
        return 1.0
    parameters, best = checked_parameters(measure, {}), 0.0
    for one in known.concepts(a):
        for other in known.concepts(b):
            if measure == "any-1":
                best = max(best, float(one == other or other in known.related.of(one)))
                continue
            up, down = _ways_up(known, one), _ways_up(known, other)
            ways = [(first + second, top) for top, first in up for also, second in down if top == also]
            if ways:
                L = min(links for links, _ in ways)
                longest = {top: max(links for _, links in _ways_up(known, top)) for _, top in ways}
                H = max((longest[top], int(known.depth[top])) for top in longest)[1]
                length_only = {"ehrig": similarity.ehrig, "path": similarity.path, "is-a-2": similarity.is_a_2}
                of_both = {"li": similarity.li, "depth": similarity.depth}
                found = length_only[measure](L, **parameters) if measure in length_only else of_both[measure](L, H)
                best = max(best, float(found))
    return best


def _ways_up(known: Ontology, concept: int) -> list[tuple[int, int]]:
    found, level = [(concept, 0)], [(concept, 0)]
    while level:
        level = list({(int(parent), links + 1) for one, links in level for parent in known.parents.of(one)})
        found += level
    return found


@settings(deadline=None, max_examples=40)
@given(ontologies(), st.sampled_from(MEASURES))
def test_rows_equal_brute_force(known: Ontology, measure: Measure) -> None:
    words = list("pqrstuvwxyz")
    like = WordSimilarity(known, words, measure)
    for a in words:
        found = of(like, a)
        assert 1.0 == found[words.index(a)]
        for b in words:
            expected = brute_force(known, a, b, measure)
            assert expected == pytest.approx(found[words.index(b)], abs=1e-12)
            assert expected == pytest.approx(word_similarity(known, a, b, measure), abs=1e-12)
            assert found[words.index(b)] == pytest.approx(of(like, b)[words.index(a)], abs=1e-12)
            assert 0.0 <= found[words.index(b)] <= 1.0


def chain(known: Ontology, *names: str) -> list[int]:
    """Assert that each synset is below the next one, and return their numbers."""
    found = []
    for name in names:
        word, _, rest = name.partition(".")
        found.append(next(sense for sense in known.concepts(word) if known.names[sense] == name))
        assert rest
    for below, above in pairwise(found):
        assert above in known.parents.of(below), f"{known.names[above]} is not above {known.names[below]}"
    return found


def test_wordnet_dog_and_cat_by_hand(wordnet: Ontology) -> None:
    """The path is dog < canine < carnivore > feline > cat: L = 4; carnivore is 11 below entity: H = 11."""
    up = chain(wordnet, "dog.n.01", "canine.n.02", "carnivore.n.01")
    down = chain(wordnet, "cat.n.01", "feline.n.01", "carnivore.n.01")
    to_root = chain(
        wordnet,
        *("carnivore.n.01", "placental.n.01", "mammal.n.01", "vertebrate.n.01", "chordate.n.01", "animal.n.01"),
        *("organism.n.01", "living_thing.n.01", "whole.n.02", "object.n.01", "physical_entity.n.01", "entity.n.01"),
    )
    assert 4 == (len(up) - 1) + (len(down) - 1)
    assert 11 == len(to_root) - 1 == wordnet.depth[to_root[0]]
    assert {
        "ehrig": 0.5**4,  # 0.0625
        "li": pytest.approx(exp(-0.2 * 4) * tanh(0.6 * 11)),  # 0.44933 * 0.99999
        "path": 1 / 5,
        "depth": pytest.approx(22 / 26),
        "any-1": 0.0,
        "is-a-2": 0.0,
    } == {measure: word_similarity(wordnet, "dog", "cats", measure) for measure in MEASURES}


def test_wordnet_car_and_bicycle_by_hand(wordnet: Ontology) -> None:
    """The shortest path is railway car < wheeled vehicle > bicycle: L = 2, H = 7; that of motor car is longer."""
    chain(wordnet, "bicycle.n.01", "wheeled_vehicle.n.01")
    chain(wordnet, "car.n.02", "wheeled_vehicle.n.01")
    chain(wordnet, "car.n.01", "motor_vehicle.n.01", "self-propelled_vehicle.n.01", "wheeled_vehicle.n.01")
    to_root = chain(
        wordnet,
        *("wheeled_vehicle.n.01", "container.n.01", "instrumentality.n.03", "artifact.n.01", "whole.n.02"),
        *("object.n.01", "physical_entity.n.01", "entity.n.01"),
    )
    assert 7 == len(to_root) - 1
    assert 0.25 == word_similarity(wordnet, "car", "bicycle", "ehrig")
    assert exp(-0.4) * tanh(0.6 * 7) == pytest.approx(word_similarity(wordnet, "car", "bicycle", "li"))
    assert 14 / 16 == pytest.approx(word_similarity(wordnet, "car", "bicycle", "depth"))
    assert 1.0 == word_similarity(wordnet, "car", "bicycle", "is-a-2")


def test_wordnet_teacher_and_doctor_by_hand(wordnet: Ontology) -> None:
    """By teacher < educator < professional > health professional > medical practitioner > doctor, L = 5, H = 5."""
    chain(wordnet, "teacher.n.01", "educator.n.01", "professional.n.01")
    chain(wordnet, "doctor.n.01", "medical_practitioner.n.01", "health_professional.n.01", "professional.n.01")
    chain(
        wordnet,
        *("professional.n.01", "adult.n.01", "person.n.01", "causal_agent.n.01", "physical_entity.n.01", "entity.n.01"),
    )
    assert exp(-1.0) * tanh(3.0) == pytest.approx(word_similarity(wordnet, "teacher", "doctor", "li"))
    assert 1 / 32 == word_similarity(wordnet, "teacher", "doctor", "ehrig")
    assert 10 / 15 == pytest.approx(word_similarity(wordnet, "teacher", "doctor", "depth"))


def test_wordnet_depth_is_that_of_most_specific_ancestor(wordnet: Ontology) -> None:
    """Depth is the shortest path to entity: person, below causal agent (depth 2) and organism (depth 5), is 3 deep."""
    person = chain(wordnet, "person.n.01", "causal_agent.n.01", "physical_entity.n.01", "entity.n.01")[0]
    long = ("organism.n.01", "living_thing.n.01", "whole.n.02", "object.n.01", "physical_entity.n.01")
    chain(wordnet, "person.n.01", *long)
    assert (3, 6) == (wordnet.depth[person], wordnet.specificity[person])
    chain(wordnet, "child.n.03", "person.n.01")
    chain(wordnet, "worker.n.01", "person.n.01")
    assert exp(-0.4) * tanh(1.8) == pytest.approx(word_similarity(wordnet, "child", "worker", "li"))  # L = 2, H = 3


def test_wordnet_measures_choose_most_similar_senses(wordnet: Ontology) -> None:
    """Measures choose different senses: for coral and atoll L = 13, H = 1 is nearest, L = 14, H = 2 the best by Li."""
    assert exp(-0.2 * 14) * tanh(0.6 * 2) == pytest.approx(word_similarity(wordnet, "coral", "atoll", "li"))
    assert 0.5**13 == word_similarity(wordnet, "coral", "atoll", "ehrig")


def test_wordnet_synonyms_are_1_and_other_parts_of_speech_0(wordnet: Ontology) -> None:
    assert tanh(0.6 * 10) == pytest.approx(word_similarity(wordnet, "car", "automobile", "li"))
    assert (
        1.0
        == word_similarity(wordnet, "car", "automobile", "ehrig")
        == word_similarity(wordnet, "car", "automobile", "path")
    )
    assert [0.0] * 3 == [word_similarity(wordnet, "quickly", "dog", measure) for measure in ("ehrig", "li", "depth")]
    assert 1.0 == word_similarity(wordnet, "big", "large", "ehrig")
    assert 0.0 == word_similarity(wordnet, "big", "large", "li")


def test_wordnet_rows_equal_word_similarity(wordnet: Ontology) -> None:
    topic = ["coral reef", "bleaching", "ocean", "run"]
    words = "fish dog warm went water_temperature algae glass quickly big economy atolls".split()
    for measure in MEASURES:
        like = WordSimilarity(wordnet, topic, measure)
        for word in words:
            expected = [word_similarity(wordnet, one, word, measure) for one in topic]
            assert expected == pytest.approx(of(like, word).tolist())
