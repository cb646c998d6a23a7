"""Ontologies: concepts, their words, and relations between them (WordNet, or a thesaurus)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import Stemmer
import xxhash
from numpy.typing import NDArray

from lycosa.core.columns import runs

Concepts = NDArray[np.int32]

MAX_CACHED_WORDS = 200_000  # limit of the cache, as a crawl never stops seeing new words
MAX_WORD_LENGTH = 200  # characters
MAX_NOTES = 5  # dropped links that are listed by name
_SPACES = re.compile(r"[\s_]+")
_STEMMER = Stemmer.Stemmer("english", 0)


def fold(word: str) -> str:
    """Normalise a word or phrase for look-up: lower case, one underscore between words."""
    if word.isascii() and word.isalpha():  # fast path for most words
        return word.lower()
    return _SPACES.sub("_", word.casefold()).strip("_")


@dataclass(slots=True)
class ConceptEdges:
    """Directed links between concepts: concept c links to `targets[starts[c] : starts[c + 1]]`.

    >>> edges = ConceptEdges.between([0, 2, 0], [1, 1, 2], concepts=3)
    >>> edges.of(0).tolist(), edges.of(1).tolist(), edges.reverse().of(1).tolist()
    ([1, 2], [], [0, 2])
    """

    starts: NDArray[np.intp]
    targets: Concepts

    @classmethod
    def between(
        cls, sources: Sequence[int] | NDArray[Any], targets: Sequence[int] | NDArray[Any], concepts: int
    ) -> ConceptEdges:
        """Create links from `sources` to `targets`, sorted, without duplicates and self-links."""
        start, end = np.asarray(sources, np.int64), np.asarray(targets, np.int64)
        pairs = start[start != end] * concepts + end[start != end]
        pairs.sort()
        pairs = pairs[np.diff(pairs, prepend=-1) != 0]  # remove duplicates; np.unique takes five times as long
        start, end = np.divmod(pairs, max(concepts, 1))
        counts = np.bincount(start, minlength=concepts)
        return cls(np.concatenate([[0], np.cumsum(counts)]).astype(np.intp), end.astype(np.int32))

    def __len__(self) -> int:
        return len(self.starts) - 1

    def of(self, concept: int) -> Concepts:
        return self.targets[self.starts[concept] : self.starts[concept + 1]]

    def sources(self) -> Concepts:
        return np.repeat(np.arange(len(self), dtype=np.int32), np.diff(self.starts))

    def reverse(self) -> ConceptEdges:
        return ConceptEdges.between(self.targets, self.sources(), len(self))

    def both_ways(self) -> ConceptEdges:
        sources, targets = self.sources(), self.targets
        return ConceptEdges.between(np.concatenate([sources, targets]), np.concatenate([targets, sources]), len(self))


class Dictionary(Protocol):
    """Interface of an ontology's dictionary."""

    def __len__(self) -> int:
        """Return the number of words."""

    def look_up(self, word: str) -> tuple[tuple[str, ...], tuple[int, ...]]:
        """Return the entries that a folded word may be a form of, and their distinct concepts, most frequent first."""

    def words(self, concept: int) -> Sequence[str]:
        """Return the words of a concept, in original spelling."""


class Labels:
    """Dictionary of fixed labels. Other words are looked up by English stem: 'reef' matches 'Reefs'.

    >>> labels = Labels([["Coral reefs", "Reefs"], ["Atolls"]])
    >>> labels.look_up("atolls"), labels.look_up("coral_reef"), labels.look_up("unicorn")
    ((('atolls',), (1,)), (('coral_reefs',), (0,)), ((), ()))
    """

    def __init__(self, labels: Sequence[Sequence[str]]) -> None:
        self._labels = [tuple(words) for words in labels]
        self._senses: dict[str, list[int]] = {}
        self._stems: dict[str, list[str]] = {}
        for concept, words in enumerate(labels):
            for word in dict.fromkeys(map(fold, words)):
                if word:
                    self._senses.setdefault(word, []).append(concept)
        for word in self._senses:
            self._stems.setdefault(_stem(word), []).append(word)

    def look_up(self, word: str) -> tuple[tuple[str, ...], tuple[int, ...]]:
        """Return the word itself if it is a label, else the labels with the same stem; and their concepts."""
        bases = (word,) if word in self._senses else tuple(self._stems.get(_stem(word), ()))
        return bases, tuple(dict.fromkeys(concept for base in bases for concept in self._senses[base]))

    def words(self, concept: int) -> Sequence[str]:
        return self._labels[concept]

    def __len__(self) -> int:
        return len(self._senses)

    def __iter__(self) -> Iterator[str]:
        return iter(self._senses)


def _stem(word: str) -> str:
    return "_".join(_STEMMER.stemWords(word.split("_")))


@dataclass(eq=False)
class Ontology:
    """Numbered concepts with their words and IS-A links; the senses of a word are concepts.

    The depth of a concept is its distance to the nearest root by IS-A links; roots have depth 0.

    >>> pets = Ontology.build(
    ...     {"animal": ["animal", "beast"], "dog": ["dog", "domestic dog"], "cat": ["cat"]},
    ...     broader=[("dog", "animal"), ("cat", "animal")], related=[("dog", "cat")], source="by hand")
    >>> pets.concepts("Domestic_Dogs"), pets.synonyms("beasts"), pets.concepts("unicorn"), pets.longest
    ((1,), ['animal'], (), 2)
    >>> [pets.names[parent] for parent in pets.parents.of(1)], pets.depth.tolist(), pets.related.of(1).tolist()
    (['animal'], [0, 1, 1], [0, 2])
    """

    names: Sequence[str] = field(repr=False)  # display name of each concept
    parents: ConceptEdges = field(repr=False)  # IS-A links from a concept to broader ones, without cycles
    related: ConceptEdges = field(repr=False)  # all relations in both directions, including IS-A
    depth: NDArray[np.int32] = field(repr=False)
    longest: int  # number of words of the longest label
    source: str
    digest: str
    dictionary: Dictionary = field(repr=False)
    notes: list[str] = field(default_factory=list, repr=False)  # dropped links, shown to the user
    language: str = ""  # language code of the words; "" matches any language
    # function and arguments to rebuild it in another process, if that is faster than pickling
    rebuild: tuple[Callable[..., Ontology], tuple[Any, ...]] | None = field(default=None, repr=False)
    _known: dict[str, tuple[tuple[str, ...], tuple[int, ...]]] = field(default_factory=dict, init=False, repr=False)

    @staticmethod
    def build(
        labels: Mapping[str, Iterable[str]],
        broader: Iterable[tuple[str, str]],
        related: Iterable[tuple[str, str]] = (),
        source: str = "",
    ) -> Ontology:
        """Create an ontology from labels; `broader` has pairs of a concept and a broader one.

        Concepts without labels get no words. An IS-A link that would close a cycle is dropped with a note, but stays
        among the related ones.
        """
        numbers = {name: number for number, name in enumerate(labels)}
        above = [(numbers.setdefault(a, len(numbers)), numbers.setdefault(b, len(numbers))) for a, b in broader]
        related_pairs = [(numbers.setdefault(a, len(numbers)), numbers.setdefault(b, len(numbers))) for a, b in related]
        names = list(numbers)
        words = [list(labels.get(name, ())) for name in names]
        links = above + related_pairs
        parents, closing = acyclic(ConceptEdges.between([a for a, _ in above], [b for _, b in above], len(names)))
        loops = [(a, a) for a, b in dict.fromkeys(above) if a == b]
        dictionary = Labels(words)
        content = repr((names, words, above, related_pairs)).encode("utf-8", "surrogatepass")
        return Ontology(
            names,
            parents,
            ConceptEdges.between([a for a, _ in links], [b for _, b in links], len(names)).both_ways(),
            depths(parents),
            max((word.count("_") + 1 for word in dictionary), default=0),
            source,
            xxhash.xxh3_64_hexdigest(content),
            dictionary,
            dropped_link_notes(names, loops + closing),
        )

    def __len__(self) -> int:
        return len(self.names)

    def __reduce__(self) -> Any:
        if self.rebuild is not None:
            return self.rebuild
        fields = (self.names, self.parents, self.related, self.depth, self.longest, self.source, self.digest)
        return Ontology, (*fields, self.dictionary, self.notes, self.language)

    def concepts(self, word: str) -> tuple[int, ...]:
        """Return the senses of a word or phrase in any case, with spaces or underscores, inflected or not."""
        return self.look_up(word)[1]

    def bases(self, word: str) -> tuple[str, ...]:
        return self.look_up(word)[0]

    def look_up(self, word: str) -> tuple[tuple[str, ...], tuple[int, ...]]:
        """Return base forms and senses of a word (cached)."""
        forms_and_senses = self._known.get(word)
        if forms_and_senses is None:
            if len(word) > MAX_WORD_LENGTH:
                return (), ()
            if len(self._known) >= MAX_CACHED_WORDS:
                self._known.clear()
            forms_and_senses = self._known[word] = self.dictionary.look_up(fold(word))
        return forms_and_senses

    def is_word(self, text: str) -> bool:
        return bool(self.concepts(text))

    def synonyms(self, word: str) -> list[str]:
        """Return all words that share a sense with a word, except its own forms; phrases have spaces."""
        own = {fold(word), *self.bases(word)}
        words: dict[str, str] = {}
        for concept in self.concepts(word):
            for other in self.dictionary.words(concept):
                words.setdefault(fold(other), other.replace("_", " "))
        return [written for other, written in words.items() if other not in own]

    def ancestors(self, concepts: Iterable[int]) -> dict[int, int]:
        """Return the concepts and all their ancestors, each with the least number of IS-A links up to it."""
        links_up = dict.fromkeys(concepts, 0)
        level, distance = list(links_up), 0
        while level:
            distance += 1
            higher = [int(parent) for concept in level for parent in self.parents.of(concept)]
            level = [parent for parent in dict.fromkeys(higher) if parent not in links_up]
            links_up.update(dict.fromkeys(level, distance))
        return links_up

    @cached_property
    def specificity(self) -> NDArray[np.int32]:
        """Longest path from a root to each concept; unlike the depth it grows with every IS-A link."""
        longest = np.zeros(len(self), np.int32)
        for concepts, starts, above in self.topological_groups:
            longest[concepts] = np.maximum.reduceat(longest[above], starts) + 1
        return longest

    @cached_property
    def topological_groups(self) -> list[tuple[Concepts, NDArray[np.intp], Concepts]]:
        """All concepts with parents, in topological groups: concepts, offsets into parents, parents."""
        return list(_groups(self.parents))


def depths(parents: ConceptEdges) -> NDArray[np.int32]:
    """Return the distance of each concept to the nearest root, by IS-A links."""
    depth = np.zeros(len(parents), np.int32)
    for concepts, starts, above in _groups(parents):
        depth[concepts] = np.minimum.reduceat(depth[above], starts) + 1
    return depth


def _groups(parents: ConceptEdges) -> Iterator[tuple[Concepts, NDArray[np.intp], Concepts]]:
    """Yield groups of concepts in topological order; the parents of each are in earlier groups or are roots."""
    children = parents.reverse()
    waiting = np.diff(parents.starts)
    ready = np.flatnonzero(waiting == 0)
    while len(ready):
        below, counts = np.unique(_gather(children, ready)[0], return_counts=True)
        waiting[below] -= counts
        ready = below[waiting[below] == 0]
        if len(ready):
            above, starts = _gather(parents, ready)
            yield ready.astype(np.int32), starts, above


def _gather(edges: ConceptEdges, concepts: NDArray[Any]) -> tuple[Concepts, NDArray[np.intp]]:
    """Return the concatenated targets of some concepts, and the offset of each concept's targets."""
    counts = edges.starts[concepts + 1] - edges.starts[concepts]
    return edges.targets[runs(edges.starts[concepts], counts)], np.cumsum(counts) - counts


def acyclic(parents: ConceptEdges) -> tuple[ConceptEdges, list[tuple[int, int]]]:
    """Remove IS-A links that close a cycle; return the remaining links and the removed ones.

    >>> kept, closing = acyclic(ConceptEdges.between([0, 1, 2, 3], [1, 2, 0, 0], concepts=4))
    >>> closing, [kept.of(concept).tolist() for concept in range(4)]
    ([(2, 0)], [[1], [2], [], [0]])
    """
    is_in_cycle = np.diff(parents.starts) > 0
    for concepts, _, _ in _groups(parents):
        is_in_cycle[concepts] = False
    closing = _back_edges(parents, np.flatnonzero(is_in_cycle).tolist())
    if closing:
        sources, targets = parents.sources().astype(np.int64), parents.targets
        out = np.isin(sources * len(parents) + targets, [a * len(parents) + b for a, b in closing])
        parents = ConceptEdges.between(sources[~out], targets[~out], len(parents))
    return parents, closing


def _back_edges(parents: ConceptEdges, concepts: list[int]) -> list[tuple[int, int]]:
    """Return the back edges of a depth-first search up from these concepts."""
    closing: list[tuple[int, int]] = []
    done: set[int] = set()
    for first in concepts:
        path = [] if first in done else [(first, iter(parents.of(first).tolist()))]
        on_path = {first}
        while path:
            concept, rest = path[-1]
            above = next(rest, None)
            if above is None:
                path.pop()
                on_path.discard(concept)
                done.add(concept)
            elif above in on_path:
                closing.append((concept, above))
            elif above not in done:
                on_path.add(above)
                path.append((above, iter(parents.of(above).tolist())))
    return closing


def dropped_link_notes(names: Sequence[str], links: list[tuple[int, int]]) -> list[str]:
    notes = [
        f"dropped an IS-A link that closes a cycle: {names[below]!r} below {names[above]!r}"
        for below, above in links[:MAX_NOTES]
    ]
    if len(links) > MAX_NOTES:
        notes.append(f"dropped {len(links) - MAX_NOTES:,} more IS-A links that close cycles")
    return notes
