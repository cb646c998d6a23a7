"""How alike two words are, by where their senses stand in an ontology.

Every measure is a function of L, the fewest IS-A links between two senses (up to a concept above both, and down again),
and H, the depth of the most specific concept above both. Two words are as alike as those two of their senses that say
most. Words that are the same, or forms of the same, are alike by 1, words that the ontology does not know by 0, and
senses with nothing above both (a noun and a verb) by 0.

Paper: Batsakis 2007, section 2.4, equations 3 and 4, and the two simpler rules before them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from lycosa.text.ontology import Ontology, fold

Measure = Literal["ehrig", "li", "path", "depth", "any-1", "is-a-2"]
MEASURES: tuple[Measure, ...] = get_args(Measure)

Numbers = NDArray[np.float64]


def ehrig(L: Any, df: float = 0.5) -> Any:
    """df ** L: each link on the way costs the factor df (equation 3). Words of one sense: L = 0, so 1.

    >>> float(ehrig(3))
    0.125
    """
    return df ** np.asarray(L, np.float64)


def li(L: Any, H: Any, a: float = 0.2, b: float = 0.6) -> Any:
    """exp(-a L) tanh(b H): short ways count more, and more so between special concepts (equation 4).

    The scan of the paper has the fraction in the exponent; Li et al. have the product. Under a root (H = 0) it is 0,
    also for synonyms: adjectives, which WordNet does not order by IS-A, are then alike only if they are the same word.

    >>> round(float(li(4, 10)), 4)         # exp(-.8) * tanh(6)
    0.4493
    """
    return np.exp(-a * np.asarray(L, np.float64)) * np.tanh(b * np.asarray(H, np.float64))


def path(L: Any) -> Any:
    """1 / (1 + L), the plain inverse of the way.

    >>> float(path(4))
    0.2
    """
    return 1.0 / (1.0 + np.asarray(L, np.float64))


def depth(L: Any, H: Any) -> Any:
    """2 H / (L + 2 H), what two senses have in common of what they are (Wu and Palmer 1994); 1 for one sense.

    >>> float(depth(4, 8))
    0.8
    """
    L, H = np.asarray(L, np.float64), np.asarray(H, np.float64)
    return np.where(L == 0, 1.0, 2 * H / np.maximum(L + 2 * H, 1))


def is_a_2(L: Any) -> Any:
    """1 up to two IS-A links, else 0.

    >>> is_a_2([0, 2, 3]).tolist()
    [1.0, 1.0, 0.0]
    """
    return (np.asarray(L, np.float64) <= 2).astype(np.float64)


class Likeness:
    """How much any word is like each of some given ones.

    `measure` is ehrig (with df), li (with a and b), path, depth, is-a-2, or any-1: 1 for senses that any relation
    connects directly. The most specific concept above two senses is the one farthest from a root by its longest way:
    none that is above both is below it. Its depth H is that by the shortest way, as L is the shortest. Where concepts
    have several parents it need not be the top of the shortest way; L and H are each taken for itself, as the paper
    words it.

    The given words are compared with the whole ontology beforehand, by sweeps: up from a sense, then down, parents
    before children. It takes some milliseconds, and one float64 for each word and concept; `rows` then looks up a few.

    >>> from lycosa.text.ontology import Ontology
    >>> pets = Ontology.build(
    ...     {"animal": ["animal"], "dog": ["dog"], "cat": ["cat"], "puppy": ["puppy"]},
    ...     broader=[("dog", "animal"), ("cat", "animal"), ("puppy", "dog")])
    >>> like = Likeness(pets, ["dog", "animal"], "ehrig")
    >>> like.rows([pets.look_up(word) for word in ("puppy", "cats", "stone")], like.near(0)).tolist()
    [[0.5, 0.25], [0.25, 0.5], [0.0, 0.0]]
    """

    def __init__(self, ontology: Ontology, words: Sequence[str], measure: Measure = "li", **parameters: float) -> None:
        self.ontology = ontology
        self.words = tuple(words)
        self.measure: Measure = measure
        self.parameters = checked(measure, parameters)
        self._same: dict[str, list[int]] = {}
        for number, word in enumerate(self.words):
            for form in dict.fromkeys([fold(word), *ontology.bases(word)]):
                self._same.setdefault(form, []).append(number)
        self._alike = _sweep(ontology, [ontology.concepts(word) for word in self.words], measure, self.parameters)

    def near(self, floor: float) -> set[int]:
        """The concepts that are like any of the given words by so much."""
        return set(np.flatnonzero(self._alike.max(axis=1, initial=0.0) >= floor).tolist())

    def rows(self, words: Sequence[tuple[Sequence[str], Sequence[int]]], near: set[int]) -> Numbers:
        """How much words are like each of the given ones, from 0 to 1: a row for each word.

        They are given by base forms and senses, as an ontology looks them up; a word of no sense that is near has 0.
        """
        table = np.zeros((len(words), len(self.words)))
        some = [number for number, (_, senses) in enumerate(words) if not near.isdisjoint(senses)]
        if some:
            lengths = np.array([len(words[number][1]) for number in some])
            at = [sense for number in some for sense in words[number][1]]
            table[some] = np.maximum.reduceat(self._alike[at], np.cumsum(lengths) - lengths, axis=0)
        same = self._same
        for number, (bases, _) in enumerate(words):
            for form in bases:
                if form in same:
                    table[number, same[form]] = 1.0
        return table


def between(ontology: Ontology, a: str, b: str, /, measure: Measure = "li", **parameters: float) -> float:
    """How alike two words are.

    >>> from lycosa.text.ontology import Ontology
    >>> pets = Ontology.build({"animal": ["animal"], "dog": ["dog"]}, broader=[("dog", "animal")])
    >>> between(pets, "dog", "animal", "path"), between(pets, "dog", "Dogs"), between(pets, "dog", "unicorn")
    (0.5, 1.0, 0.0)
    """
    settings = checked(measure, parameters)
    if {fold(a), *ontology.bases(a)} & {fold(b), *ontology.bases(b)}:
        return 1.0
    first, second = ontology.concepts(a), ontology.concepts(b)
    if measure == "any-1":
        near = {*first, *(int(other) for sense in first for other in ontology.related.of(sense))}
        return float(not near.isdisjoint(second))
    return max((value(measure, two.L, two.H, settings) for two in meetings(ontology, a, b)), default=0.0)


class Meeting(NamedTuple):
    """How a sense of one word and a sense of another are related."""

    L: int
    H: int
    turn: int  # where the shortest way between them turns
    top: int  # the most specific concept above both, at depth H


def meetings(ontology: Ontology, a: str, b: str) -> list[Meeting]:
    """All pairs of senses of two words that have a concept above both."""
    pairs = []
    others = [ontology.above([sense]) for sense in ontology.concepts(b)]
    for up in (ontology.above([sense]) for sense in ontology.concepts(a)):
        for other in others:
            tops = sorted(up.keys() & other.keys())
            if tops:
                turn = min(tops, key=lambda top: (up[top] + other[top], -int(ontology.depth[top])))
                top = max(tops, key=lambda top: (int(ontology.specificity[top]), int(ontology.depth[top])))
                pairs.append(Meeting(up[turn] + other[turn], int(ontology.depth[top]), turn, top))
    return pairs


def value(measure: Measure, L: int, H: int, parameters: dict[str, float]) -> float:
    """A measure of two senses L links apart, under a concept at depth H; any-1 has none."""
    if measure == "ehrig":
        return float(ehrig(L, **parameters))
    if measure == "li":
        return float(li(L, H, **parameters))
    if measure == "depth":
        return float(depth(L, H))
    return float(path(L) if measure == "path" else is_a_2(L))


def checked(measure: str, parameters: dict[str, float]) -> dict[str, float]:
    """The parameters of a measure, those not given as in the paper; a ValueError for what makes no sense."""
    if measure not in MEASURES:
        raise ValueError(f"there is no measure {measure!r}: choose {', '.join(MEASURES[:-1])} or {MEASURES[-1]}")
    defaults = {"ehrig": {"df": 0.5}, "li": {"a": 0.2, "b": 0.6}}.get(measure, {})
    for name, number in parameters.items():
        if name not in defaults:
            raise ValueError(f"{measure} has no {name}: it has {' and '.join(defaults) or 'nothing to set'}")
        if not (0 < number < 1 if name == "df" else 0 < number < np.inf):
            raise ValueError(f"{name} is {number:g}: give a number above 0{' and below 1' if name == 'df' else ''}")
    return {**defaults, **parameters}


def _sweep(
    ontology: Ontology, senses: Sequence[Sequence[int]], measure: Measure, parameters: dict[str, float]
) -> Numbers:
    """For each concept and each word the measure of the concept and the word's sense that says most."""
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
            above = [ontology.above([sense]) for sense in own]
            if above:
                L, H = _distances(ontology, above), _tops(ontology, above)
                values = np.where(H >= 0, of_both(np.minimum(L, len(ontology)), np.maximum(H, 0), **parameters), 0.0)
                table[:, word] = values.max(axis=1)
        return table
    L = _distances(ontology, [ontology.above(own) for own in senses])
    return np.asarray({"ehrig": ehrig, "path": path, "is-a-2": is_a_2}[measure](L, **parameters), np.float64)


def _tops(ontology: Ontology, above: Sequence[dict[int, int]]) -> NDArray[np.int32]:
    """The depth of the most specific concept above both a sense and each concept; -1 if there is none."""
    keys = ontology.specificity.astype(np.int64) << 32 | ontology.depth
    deepest = np.full((len(ontology), len(above)), -1, np.int64)
    for sense, tops in enumerate(above):
        deepest[list(tops), sense] = keys[list(tops)]
    for concepts, starts, parents in ontology.downwards:
        deepest[concepts] = np.maximum(deepest[concepts], np.maximum.reduceat(deepest[parents], starts, axis=0))
    return np.where(deepest < 0, -1, deepest & 0xFFFFFFFF).astype(np.int32)


def _distances(ontology: Ontology, above: Sequence[dict[int, int]]) -> NDArray[np.float32]:
    """The links between each word and each concept, up to one of the given tops and down; infinite if there is none."""
    distances = np.full((len(ontology), len(above)), np.inf, np.float32)
    for word, tops in enumerate(above):
        distances[list(tops), word] = list(tops.values())
    for concepts, starts, parents in ontology.downwards:
        best = np.minimum.reduceat(distances[parents], starts, axis=0) + np.float32(1)
        distances[concepts] = np.minimum(distances[concepts], best)
    return distances
