"""Training sets from recorded browsing: pages, their relevance, and the steps between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from lycosa.core.errors import InputError
from lycosa.core.state import FileFormat, digest, from_texts, pack, to_texts
from lycosa.text.bags import Bags
from lycosa.version import SOFTWARE

FORMAT = FileFormat("lycosa-browsing", 1, "browsing model", "lycosa train browse")

MAX_STATES = 100
_CLUSTER = "cluster "  # prefix of array names


@dataclass
class Browsing:
    """Training set of `lycosa train browse`: pages with their hidden and visible states.

    Invalid values raise ValueError; in a file, InputError.

    >>> state = distances(np.array([False, False, True]), np.array([[0, 1], [1, 2], [1, 0]]), states=3)
    >>> state.tolist()                                                   # two links from the relevant page, one, none
    [2, 1, 0]
    >>> pages = Bags.of([([0], [1]), ([0, 1], [1, 2]), ([1], [3])])
    >>> browsing = Browsing(
    ...     ["list", "reef"], pages, ["a", "b", "c"], np.array([False, False, True]), state,
    ...     np.array([[0, 1], [1, 2], [1, 0]]), {"kmeans": np.array([0, 0, 1])}, states=3,
    ... )
    >>> browsing.clusters("kmeans")
    2
    """

    terms: list[str]  # stems of the columns of `pages`
    pages: Bags = field(repr=False)  # term counts of each training page; a page may be empty
    urls: list[str] = field(repr=False)
    relevant: NDArray[np.bool_] = field(repr=False)
    # hidden state: links to the nearest relevant page, at most `states` - 1; see `distances`
    state: NDArray[np.intp] = field(repr=False)
    steps: NDArray[np.intp] = field(repr=False)  # (n, 2): page i was followed by page j
    # visible state: cluster of every page, by "kmeans", "xmeans", ...; -1 for none. Pages with words but without a
    # cluster form one more cluster; pages without words have no visible state.
    clusterings: dict[str, NDArray[np.intp]] = field(repr=False)
    states: int = 4
    language: str = "en"
    facts: dict[str, Any] = field(default_factory=dict, repr=False)  # provenance

    def __post_init__(self) -> None:
        self.relevant = np.asarray(self.relevant, np.bool_)
        self.state = np.asarray(self.state, np.intp)
        self.steps = np.asarray(self.steps, np.intp).reshape(-1, 2)
        self.clusterings = {name: np.asarray(column, np.intp) for name, column in self.clusterings.items()}
        self._check_pages()
        self._check_states()

    def __len__(self) -> int:
        return len(self.urls)

    @cached_property
    def column_of(self) -> dict[str, int]:
        return {term: column for column, term in enumerate(self.terms)}

    @cached_property
    def digest(self) -> str:
        return digest(self._contents())

    def clusters(self, name: str) -> int:
        """Return the number of clusters, including the one of unclustered pages."""
        return max(1, int(self.clustering(name).max()) + 1)

    def clustering(self, name: str) -> NDArray[np.intp]:
        """Return the cluster of each page; unclustered pages get the last number, or -1 if they have no words."""
        if name not in self.clusterings:
            names = " and ".join(self.clusterings) or "none"
            message = f"the browsing model has no {name} clusters (it has {names})"
            raise InputError("missing-clusters", f"{message}: train it again with 'lycosa train browse'")
        column = self.clusterings[name]
        return np.where((column < 0) & (np.diff(self.pages.starts) > 0), column.max() + 1, column)

    @classmethod
    def of(cls, file: str | Browsing) -> Browsing:
        if isinstance(file, str) and not file:
            advice = "train one with 'lycosa train browse', then add ,file=FILE to the strategy"
            raise InputError("missing-option", f"the strategy needs a browsing model: {advice}")
        return file if isinstance(file, Browsing) else cls.load(file)

    def save(self, path: str | Path) -> None:
        FORMAT.write(Path(path), self._contents())

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a training set; raise InputError if the file is damaged."""
        return FORMAT.read(Path(path), cls._from_contents)

    def _contents(self) -> list[bytes]:
        header = {"by": SOFTWARE, "states": self.states, "language": self.language}
        arrays: dict[str, NDArray[Any]] = {
            "terms": from_texts(self.terms),
            "urls": from_texts(self.urls),
            "starts": self.pages.starts.astype(np.int32),
            "columns": self.pages.columns.astype(np.int32),
            "counts": self.pages.counts.astype(np.float64),
            "relevant": self.relevant.astype(np.uint8),
            "state": self.state.astype(np.int32),
            "steps": self.steps.astype(np.int32),
            **{_CLUSTER + name: column.astype(np.int32) for name, column in self.clusterings.items()},
        }
        return pack(header, arrays, self.facts)

    @classmethod
    def _from_contents(cls, header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Self:
        """Build a training set from a file. Types and shapes are checked here, values by the constructor."""
        for name, (kind, dimensions) in _ARRAY_TYPES.items():
            _check_array(name, arrays[name], kind, dimensions)
        clusterings = {name[len(_CLUSTER) :]: column for name, column in arrays.items() if name.startswith(_CLUSTER)}
        for name, column in clusterings.items():
            _check_array(f"clusters by {name}", column, "i4", 1)
        if len(arrays) != len(_ARRAY_TYPES) + len(clusterings):
            raise ValueError(f"the arrays of the file are {', '.join(arrays)}: expected {', '.join(_ARRAY_TYPES)}")
        if arrays["relevant"].max(initial=0) > 1:
            raise ValueError("the relevance of a page is not 0 or 1")
        facts, states, language = header["facts"], header["states"], header["language"]
        if not isinstance(facts, dict) or type(states) is not int or not isinstance(language, str):
            raise TypeError("facts must be a dictionary, states an integer, and language a text")
        pages = Bags(arrays["starts"].astype(np.intp), arrays["columns"].astype(np.intp), arrays["counts"])
        return cls(
            to_texts(arrays["terms"]),
            pages,
            to_texts(arrays["urls"]),
            arrays["relevant"].astype(np.bool_),
            arrays["state"].astype(np.intp),
            arrays["steps"].astype(np.intp),
            {name: column.astype(np.intp) for name, column in clusterings.items()},
            states,
            language,
            facts,
        )

    def _check_pages(self) -> None:
        pages, width = self.pages, len(self.terms)
        if not self.urls:
            raise ValueError("there are no pages")
        if len(set(self.terms)) != width or any("\n" in text for text in (*self.terms, *self.urls)):
            raise ValueError("a term is duplicated, or a term or URL has several lines")
        starts = pages.starts
        if starts.shape != (len(self) + 1,) or starts[0] != 0 or (np.diff(starts) < 0).any():
            raise ValueError("the term ranges of pages do not increase")
        if not len(pages.columns) == len(pages.counts) == starts[-1]:
            raise ValueError("terms and counts of pages differ in number")
        if len(pages.columns) and not (pages.columns.min() >= 0 and pages.columns.max() < width):
            raise ValueError(f"a page has a term number outside 0 to {width - 1}")
        # squares of larger counts might overflow; also rejects NaN
        if not ((pages.counts > 0) & (pages.counts < 1e9)).all():
            raise ValueError("a term count is not between 0 and 1e9")
        if len(np.unique(pages.rows() * max(1, width) + pages.columns)) != len(pages.columns):
            raise ValueError("a page has a duplicate term")

    def _check_states(self) -> None:
        count = len(self)
        if not 2 <= self.states <= MAX_STATES:
            raise ValueError(f"the number of states is {self.states}: it must be 2 to {MAX_STATES}")
        for name, column, lowest, limit in (
            ("relevant", self.relevant, 0, 2),
            ("state", self.state, 0, self.states),
            *((f"clusters by {name}", column, -1, 10_000) for name, column in self.clusterings.items()),
        ):
            if column.shape != (count,):
                raise ValueError(f"{name} has shape {column.shape}: expected ({count},)")
            if column.min() < lowest or column.max() >= limit:
                message = f"{name} ranges from {column.min()} to {column.max()}, not from {lowest} to {limit - 1}"
                raise ValueError(message)
        if len(self.steps) and not (self.steps.min() >= 0 and self.steps.max() < count):
            raise ValueError(f"a step has a page number outside 0 to {count - 1}")
        if not self.relevant.any():
            raise ValueError("no page is relevant")
        if not np.diff(self.pages.starts)[self.relevant].any():
            raise ValueError("no relevant page has words")
        if ((self.state == 0) != self.relevant).any():
            raise ValueError("relevant pages must have the state 0, and all others a state above 0")


_ARRAY_TYPES: dict[str, tuple[str, int]] = {
    "terms": ("u1", 1),
    "urls": ("u1", 1),
    "starts": ("i4", 1),
    "columns": ("i4", 1),
    "counts": ("f8", 1),
    "relevant": ("u1", 1),
    "state": ("i4", 1),
    "steps": ("i4", 2),
}


def _check_array(name: str, array: NDArray[Any], kind: str, dimensions: int) -> None:
    if array.dtype.str[1:] != kind or array.ndim != dimensions or (dimensions == 2 and array.shape[1] != 2):
        found = f"shape {array.shape} and type {array.dtype.str[1:]}"
        raise ValueError(f"{name} has {found}: expected {dimensions} dimensions of type {kind}")


def distances(
    relevant: NDArray[np.bool_] | Sequence[bool], steps: NDArray[np.integer[Any]], states: int
) -> NDArray[np.intp]:
    """Return the hidden state of each page: steps to the nearest relevant page, at most `states` - 1.

    A breadth-first search backwards from the relevant pages. Pages that lead to no relevant page get `states` - 1.
    """
    is_relevant = np.asarray(relevant, np.bool_)
    steps = np.asarray(steps, np.intp).reshape(-1, 2)
    steps_away = np.full(len(is_relevant), states - 1, np.intp)
    reached = is_relevant.copy()
    steps_away[is_relevant] = 0
    for distance in range(1, states - 1):
        before = steps[reached[steps[:, 1]], 0]
        before = np.unique(before[~reached[before]])
        if not len(before):
            break
        steps_away[before] = distance
        reached[before] = True
    return steps_away
