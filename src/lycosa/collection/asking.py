"""Which pages to ask a person about: those that the judge is least sure of, of different hosts and kinds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from lycosa.collection.best import alike, side_of
from lycosa.collection.estimate import unsure
from lycosa.collection.reading import Collection
from lycosa.core.types import Visit
from lycosa.store.labels import labels_in

WIDER = 10
"""So many times the pages that are asked about are looked at."""

OF_ONE_HOST = 3
"""Pages of one host that are asked about, as long as there are others."""


@dataclass(frozen=True, slots=True)
class Question:
    """A page to say yes or no to."""

    url: str
    title: str
    worth: float

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def questions(collection: Collection, most: int = 10, labelled: Iterable[str] = ()) -> list[Question]:
    """The pages of which a person's word would help most, the most helpful first; none that somebody has labelled.

    `labelled`: pages with labels that are not in the log yet.
    """
    labels = {*labels_in(collection.log), *labelled}
    pages = sorted((page.seq, page.worth) for page in collection.view().pages() if page.node not in labels)
    order = unsure([worth for _, worth in pages], collection.threshold, collection.probability)
    chosen: list[Visit] = []
    left: list[Visit] = []
    hosts: Counter[str] = Counter()
    for place in order[: WIDER * most].tolist():
        visit = collection.log.visit(pages[place][0])
        if any(alike(visit, other) for other in chosen):
            continue
        if hosts[side_of(visit)] >= OF_ONE_HOST:
            left.append(visit)
            continue
        hosts[side_of(visit)] += 1
        chosen.append(visit)
        if len(chosen) == most:
            break
    return [Question(visit.node, visit.title, visit.worth) for visit in [*chosen, *left][:most]]
