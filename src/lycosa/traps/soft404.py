"""Soft 404s: a host that says 200 to everything. It was asked for a page that can't exist; whatever looks like the
answer to that is no page either (Bar-Yossef et al. 2004).

A title that says so in plain words is believed without asking. Otherwise pages are compared by the words outside their
links, and without the words of their own addresses: error pages quote what was asked for, and offer links that differ
each time.
"""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from lycosa.core.state import State, Texts
from lycosa.core.types import Visit
from lycosa.text.tokens import stems
from lycosa.text.vocabulary import Reading

ALIKE = 0.85
"""Cosine of the word counts of two error pages of one host, at least."""

MOST_WORDS = 5_000
"""Different words that an error page may have; with more of them it is something else."""

_SORRY = re.compile(
    r"""^\W*(?:error\W*)?404\W*$ | \b404\W+(?:error|not\ found|page)\b | ^\W*error\ 404\W*$ | ^\W*not\ found\W*$
    | \b(?:page|document|file|article|content|url|resource)\ (?:was\ |could\ |can)?not\ (?:be\ )?(?:found|exist)
    | \bnothing\ (?:was\ )?found(?:\W*$|\ for\b)
    | \bno\ (?:results?|matches|pages?|posts?|entries)\ (?:were\ |was\ )?found(?:\W*$|\ for\b)
    | \bpage\ (?:introuvable|non\ trouvée|not\ available) | \bseite\ (?:wurde\ )?nicht\ gefunden
    | \bpágina\ no\ (?:encontrada|existe) | \bpágina\ não\ encontrada | \bpagina\ non\ trovata
    | \bpagina\ niet\ gevonden | \bsidan\ hittades\ inte | \bnie\ znaleziono | \bстраница\ не\ найдена""",
    re.IGNORECASE | re.VERBOSE,
)

Bag = tuple[NDArray[np.int32], NDArray[np.float64]]


class Soft404:
    """What each host says when it has nothing to say; a fold over the log.

    >>> [bool(_SORRY.search(title)) for title in ("404 Not Found", "Page not found - Reefs", "Lost and found: a novel")]
    [True, True, False]
    """

    def __init__(self) -> None:
        self._faces: dict[str, Bag] = {}

    def recognise(self, visit: Visit, reading: Reading) -> None:
        """Keep the face of a probe's answer; see whether a page has the face that its host gave then."""
        if visit.kind == "probe":
            ids, counts = _bag(visit.node, reading)
            if 0 < len(ids) <= MOST_WORDS:
                visit.data["face"] = [ids.tolist(), counts.tolist()]
            return
        if _SORRY.search(visit.title[:200]):
            visit.flags.append("soft-404")
            return
        face = self._faces.get(_origin(visit.node))
        if face is not None and _cosine(face, _bag(visit.node, reading)) >= ALIKE:
            visit.flags.append("soft-404")

    def learn(self, visit: Visit) -> None:
        """Remember what a host said to a probe."""
        if visit.kind == "probe" and visit.outcome == "ok" and "face" in visit.data:
            ids, counts = visit.data["face"]
            self._faces[_origin(visit.node)] = np.array(ids, np.int32), np.array(counts, np.float64)

    def state(self) -> State:
        """The faces."""
        faces = list(self._faces.values())
        return {
            "hosts": Texts(self._faces),
            "words": np.array([len(ids) for ids, _ in faces], np.int64),
            "ids": np.concatenate([np.zeros(0, np.int32), *(ids for ids, _ in faces)]),
            "counts": np.concatenate([np.zeros(0), *(counts for _, counts in faces)]),
        }

    def restore(self, state: State) -> None:
        """Remember them."""
        ends = np.cumsum(state["words"])[:-1]
        faces = zip(np.split(state["ids"], ends), np.split(state["counts"], ends), strict=True)
        self._faces = dict(zip(state["hosts"], faces, strict=False))  # of no host there is one empty part


def _bag(node: str, reading: Reading) -> Bag:
    """The words that stand outside the links and are not in the address, and how often."""
    quoted = [reading.vocabulary.id_of.get(stem, -1) for stem in stems(node, reading.language)]
    words = reading.unlinked()
    ids, counts = np.unique(words[~np.isin(words, quoted)], return_counts=True)
    return ids.astype(np.int32), counts.astype(np.float64)


def _cosine(a: Bag, b: Bag) -> float:
    _, left, right = np.intersect1d(a[0], b[0], assume_unique=True, return_indices=True)
    lengths = float(np.sqrt((a[1] @ a[1]) * (b[1] @ b[1])))
    return float(a[1][left] @ b[1][right]) / lengths if lengths else 0.0


def _origin(node: str) -> str:
    return "/".join(node.split("/", 3)[:3])
