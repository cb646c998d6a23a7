"""Similarity of words by the positions of their senses in an ontology.

Every measure is a function of L, the least number of IS-A links between two senses (up to a common ancestor and down
again), and H, the depth of their most specific common ancestor. The similarity of two words is the maximum over their
senses. It is 1 for equal words and forms of the same word, 0 for words that the ontology does not have, and 0 for
senses without a common ancestor (a noun and a verb).

Paper: Batsakis 2007, section 2.4, equations 3 and 4, and the two simpler rules before them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from lycosa.text.ontology import Ontology, fold

Measure = Literal["ehrig", "li", "path", "depth", "any-1", "is-a-2"]
MEASURES: tuple[Measure, ...] = get_args(Measure)

Numbers = NDArray[np.float64]


def ehrig(L: Any, df: float = 0.5) -> Any:
    """Return df ** L: each link costs the factor df (equation 3). Words with a common sense have L = 0, so 1.

    >>> float(ehrig(3))
    0.125
    """
    return df ** np.asarray(L, np.float64)


def li(L: Any, H: Any, a: float = 0.2, b: float = 0.6) -> Any:
    """Return exp(-a L) tanh(b H): decreases with distance, increases with the depth of the ancestor (equation 4).

    The scan of the paper has the fraction in the exponent; Li et al. have the product. Under a root (H = 0) it is 0
    even for synonyms, so adjectives, which have no IS-A links in WordNet, are similar only to themselves.

    >>> round(float(li(4, 10)), 4)         # exp(-.8) * tanh(6)
    0.4493
    """
    return np.exp(-a * np.asarray(L, np.float64)) * np.tanh(b * np.asarray(H, np.float64))


def path(L: Any) -> Any:
    """Return 1 / (1 + L), the inverse path length.

    >>> float(path(4))
    0.2
    """
    return 1.0 / (1.0 + np.asarray(L, np.float64))


def depth(L: Any, H: Any) -> Any:
    """Return 2 H / (L + 2 H) (Wu and Palmer 1994); 1 for the same sense.

    >>> float(depth(4, 8))
    0.8
    """
    L, H = np.asarray(L, np.float64), np.asarray(H, np.float64)
    return np.where(L == 0, 1.0, 2 * H / np.maximum(L + 2 * H, 1))


def is_a_2(L: Any) -> Any:
    """Return 1 for up to two IS-A links, else 0.

    >>> is_a_2([0, 2, 3]).tolist()
    [1.0, 1.0, 0.0]
    """
    return (np.asarray(L, np.float64) <= 2).astype(np.float64)


class WordSimilarity:
    """Similarity of any word to each of some given words.

    `measure` is ehrig (with df), li (with a and b), path, depth, is-a-2, or any-1: 1 for senses that any relation
    connects directly. The most specific common ancestor of two senses is the one with the longest path from a root, so
    that no other common ancestor is below it. Its depth H is by the shortest path, as L is. With multiple parents it
    need not be on the shortest path between the senses; L and H are independent, as in the paper.

    The constructor compares the given words with the whole ontology, by sweeps up from each sense and then down,
    parents before children. This takes some milliseconds and one float64 per word and concept; `rows` only looks values
    up.

    >>> from lycosa.text.ontology import Ontology
    >>> pets = Ontology.build(
    ...     {"animal": ["animal"], "dog": ["dog"], "cat": ["cat"], "puppy": ["puppy"]},
    ...     broader=[("dog", "animal"), ("cat", "animal"), ("puppy", "dog")])
    >>> like = WordSimilarity(pets, ["dog", "animal"], "ehrig")
    >>> like.rows([pets.look_up(word) for word in ("puppy", "cats", "stone")], like.near_concepts(0)).tolist()
    [[0.5, 0.25], [0.25, 0.5], [0.0, 0.0]]
    """

    def __init__(self, ontology: Ontology, words: Sequence[str], measure: Measure = "li", **parameters: float) -> None:
        self.ontology = ontology
        self.words = tuple(words)
        self.measure: Measure = measure
        self.parameters = checked_parameters(measure, parameters)
        self._words_of_form: dict[str, list[int]] = {}
        for number, word in enumerate(self.words):
            for form in dict.fromkeys([fold(word), *ontology.bases(word)]):
                self._words_of_form.setdefault(form, []).append(number)
        self._table = _sweep(ontology, [ontology.concepts(word) for word in self.words], measure, self.parameters)

    def near_concepts(self, floor: float) -> set[int]:
        """Return the concepts with a similarity of at least `floor` to any of the given words."""
        return set(np.flatnonzero(self._table.max(axis=1, initial=0.0) >= floor).tolist())

    def rows(self, words: Sequence[tuple[Sequence[str], Sequence[int]]], near_concepts: set[int]) -> Numbers:
        """Return a row of similarities to the given words for each word, from 0 to 1.

        Words are pairs of base forms and senses, as an ontology looks them up. Words without such a sense get 0.
        """
        table = np.zeros((len(words), len(self.words)))
        some = [number for number, (_, senses) in enumerate(words) if not near_concepts.isdisjoint(senses)]
        if some:
            lengths = np.array([len(words[number][1]) for number in some])
            at = [sense for number in some for sense in words[number][1]]
            table[some] = np.maximum.reduceat(self._table[at], np.cumsum(lengths) - lengths, axis=0)
        words_of_form = self._words_of_form
        for number, (bases, _) in enumerate(words):
            for form in bases:
                if form in words_of_form:
                    table[number, words_of_form[form]] = 1.0
        return table


def word_similarity(ontology: Ontology, a: str, b: str, /, measure: Measure = "li", **parameters: float) -> float:
    """Return the similarity of two words.

    >>> from lycosa.text.ontology import Ontology
    >>> pets = Ontology.build({"animal": ["animal"], "dog": ["dog"]}, broader=[("dog", "animal")])
    >>> word_similarity(pets, "dog", "animal", "path"), word_similarity(pets, "dog", "unicorn", "path")
    (0.5, 0.0)
    >>> word_similarity(pets, "dog", "Dogs")
    1.0
    """
    like = WordSimilarity(ontology, [b], measure, **parameters)
    bases, senses = ontology.look_up(a)
    return float(like.rows([(bases or (fold(a),), senses)], like.near_concepts(0))[0, 0])


def checked_parameters(measure: str, parameters: dict[str, float]) -> dict[str, float]:
    """Return all parameters of a measure, with the paper's defaults; raise ValueError for unknown or invalid ones."""
    if measure not in MEASURES:
        raise ValueError(f"unknown measure {measure!r}; available: {', '.join(MEASURES)}")
    defaults = {"ehrig": {"df": 0.5}, "li": {"a": 0.2, "b": 0.6}}.get(measure, {})
    for name, number in parameters.items():
        if name not in defaults:
            message = f"the measure {measure} has no parameter {name!r}; it has {' and '.join(defaults) or 'none'}"
            raise ValueError(message)
        if not (0 < number < 1 if name == "df" else 0 < number < np.inf):
            raise ValueError(f"'{name}' is {number:g}: it must be above 0{' and below 1' if name == 'df' else ''}")
    return {**defaults, **parameters}


def _sweep(
    ontology: Ontology, senses: Sequence[Sequence[int]], measure: Measure, parameters: dict[str, float]
) -> Numbers:
    """Return the similarity of each concept and each word's most similar sense."""
    table = np.zeros((len(ontology), len(senses)))
    if measure == "any-1":
        for word, own in enumerate(senses):
            for sense in own:
                table[sense, word] = 1.0
                table[ontology.related.of(sense), word] = 1.0
        return table
    if measure in ("li", "depth"):
        of_both = li if measure == "li" else depth
        for word, own in enumerate(senses):
            above = [ontology.ancestors([sense]) for sense in own]
            if above:
                L, H = _distances(ontology, above), _ancestor_depths(ontology, above)
                values = np.where(H >= 0, of_both(np.minimum(L, len(ontology)), np.maximum(H, 0), **parameters), 0.0)
                table[:, word] = values.max(axis=1)
        return table
    L = _distances(ontology, [ontology.ancestors(own) for own in senses])
    return np.asarray({"ehrig": ehrig, "path": path, "is-a-2": is_a_2}[measure](L, **parameters), np.float64)


def _ancestor_depths(ontology: Ontology, above: Sequence[dict[int, int]]) -> NDArray[np.int32]:
    """Return the depth of the most specific common ancestor of each concept and each sense; -1 if there is none."""
    keys = ontology.specificity.astype(np.int64) << 32 | ontology.depth
    deepest = np.full((len(ontology), len(above)), -1, np.int64)
    for sense, tops in enumerate(above):
        deepest[list(tops), sense] = keys[list(tops)]
    for concepts, starts, parents in ontology.topological_groups:
        deepest[concepts] = np.maximum(deepest[concepts], np.maximum.reduceat(deepest[parents], starts, axis=0))
    return np.where(deepest < 0, -1, deepest & 0xFFFFFFFF).astype(np.int32)


def _distances(ontology: Ontology, above: Sequence[dict[int, int]]) -> NDArray[np.float32]:
    """Return the shortest path from each concept to each word through a given ancestor of the word, or infinity."""
    distances = np.full((len(ontology), len(above)), np.inf, np.float32)
    for word, tops in enumerate(above):
        distances[list(tops), word] = list(tops.values())
    for concepts, starts, parents in ontology.topological_groups:
        best = np.minimum.reduceat(distances[parents], starts, axis=0) + np.float32(1)
        distances[concepts] = np.minimum(distances[concepts], best)
    return distances
